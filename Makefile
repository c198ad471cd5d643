# SPDX-License-Identifier: Apache-2.0
# The commands a newcomer types. Everything real happens in CMake; this file only names it.
#
#   make              build into build/ (SANITIZE=1: with ASan and UBSan, into build-sanitize/;
#                     LLVM=22: with that LLVM, into build-llvm22/; the same for all that follow)
#   make demo         install what is missing, build, and show a first program
#   make check-unit   build and run the unit tests, within a minute
#   make check        install what is missing, build, and run the tests
#   make check-all    the same with the long tests, for some hours
#   make bench-quick  evaluate the detectors on a few subjects, within ten minutes
#   make bench        the same on all subjects, for more than an hour
#   make tidy         look for mistakes with clang-tidy
#   make format       lay out the code with clang-format
#   make install PREFIX=/usr/local
#   make deb          make a Debian package in the build folder

PREFIX ?= /usr/local
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
BUILD := build$(if $(SANITIZE),-sanitize)$(if $(LLVM),-llvm$(LLVM))
JOBS ?= $(shell nproc)

.PHONY: all deps demo check-unit check check-all bench-quick bench install deb clean format tidy

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

deb: all
	@scripts/make-deb $(BUILD) $$(sed -n 's/^project(racehive VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt) $(or $(LLVM),19)

clean:
	rm -rf build build-sanitize build-llvm*

# Other versions of clang-format lay out some lines otherwise. Programs in tests/ stay as they are: their
# expectations are comments, which belong to lines.
CLANG_FORMAT ?= clang-format-14

format:
	@command -v $(CLANG_FORMAT) >/dev/null || sh scripts/install-dependencies clang-format-14
	@git ls-files '*.c' '*.h' ':!tests' ':!*/testdata/*' | xargs $(CLANG_FORMAT) -i

tidy: all
	@command -v clang-tidy >/dev/null || sh scripts/install-dependencies clang-tidy
	@scripts/tidy $(BUILD) --jobs=$(JOBS)
