# The commands a newcomer types. Everything real happens in CMake; this file only names it.
#
#   make              build into build/
#   make demo         install what is missing, build, and show a first program
#   make check-unit   build and run the unit tests, within a minute
#   make check        install what is missing, build, and run the tests (SANITIZE=1: with ASan+UBSan)
#   make check-all    the same with the long tests
#   make bench-quick  evaluate the detectors on a few subjects, within ten minutes
#   make bench        the same on all subjects, for more than an hour
#   make install PREFIX=/usr/local

PREFIX ?= /usr/local
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
BUILD := build$(if $(SANITIZE),-sanitize)
JOBS ?= $(shell nproc)

.PHONY: all deps demo check-unit check check-all bench-quick bench install clean format

all: deps
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_C_COMPILER=$(CC) \
	    $(if $(SANITIZE),-DRH_SANITIZE=ON) $(if $(LLVM),-DRH_LLVM_VERSION=$(LLVM)) >$(BUILD).log 2>&1 \
	    || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@cmake --build $(BUILD) -j $(JOBS)

deps:
	@sh scripts/install-dependencies $(if $(LLVM),--llvm=$(LLVM))

demo: all
	@sh scripts/demo $(BUILD)

check-unit: all
	@sh scripts/check $(BUILD) unit

check: all
	@sh scripts/check $(BUILD) quick

check-all: all
	@sh scripts/check $(BUILD) all

bench-quick: all
	@sh scripts/install-dependencies valgrind $$(tests/realworld/run --packages pbzip2)
	@bench/run --build=$(BUILD) --quick

bench: all
	@sh scripts/install-dependencies valgrind $$(tests/realworld/run --packages)
	@bench/run --build=$(BUILD)

install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build build-sanitize

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i
