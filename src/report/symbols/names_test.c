/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the names of C++ as people read them. */
#include "base/testing.h"
#include "report/symbols/names.h"

#include <stdlib.h>

static void assert_taken(char *actual, const char *expected)
{
    assert_non_null(actual);
    assert_string_equal(actual, expected);
    free(actual);
}

static void test_demangle(void **state)
{
    (void)state;
    assert_taken(rh_names_demangle("_ZN7journal3addEi"), "journal::add(int)");
    assert_null(rh_names_demangle("main"));
    assert_null(rh_names_demangle("_ZZZ"));
}

static void test_constraints_of_newer_compilers_are_left_out(void **state)
{
    (void)state;
    assert_taken(rh_names_demangle("_ZNSt4pairIilEaSEOS0_Qcl13_S_assignableIT_T0_EE"),
                 "std::pair<int, long>::operator=(std::pair<int, long>&&)");
}

static void test_shorten(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"deposit", "deposit"},
        {"deposit(int)", "deposit(int)"},
        {"journal::add(std::__cxx11::basic_string<char, std::char_traits<char>, "
         "std::allocator<char> > const&)",
         "journal::add(std::string const&)"},
        {"std::vector<long, std::allocator<long> >::push_back(long const&)",
         "std::vector<long>::push_back(long const&)"},
        {"std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > "
         ">::find(int const&)",
         "std::map<int, long>::find(int const&)"},
        {"std::vector<std::vector<int, std::allocator<int> >, std::allocator<std::vector<int, "
         "std::allocator<int> > > >::size() const",
         "std::vector<std::vector<int>>::size() const"},
        {"std::__shared_ptr<settings, (__gnu_cxx::_Lock_policy)2>::get() const",
         "std::__shared_ptr<settings>::get() const"},
        {"__shared_ptr<std::allocator<void>, settings>", "__shared_ptr<settings>"},
        {"f<std::allocator<int> >()", "f<std::allocator<int>>()"},
        {"void std::__invoke_impl<void, main::$_0>(std::__invoke_other, main::$_0&&)",
         "std::__invoke_impl<void, main::{lambda#1}>"},
        {"main::$_1::operator()() const", "main::{lambda#2}() const"},
        {"(anonymous namespace)::queue::push(int)", "queue::push(int)"},
        {"point::operator<(point const&) const", "point::operator<(point const&) const"},
        {"std::ostream& operator<< <char>(std::ostream&, char)",
         "operator<< <char>(std::ostream&, char)"},
        {"point::operator bool() const", "point::operator bool() const"},
        {"work(int) [clone .cold]", "work(int)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_taken(rh_names_shorten(cases[i][0]), cases[i][1]);
}

static void test_long_names_lose_parameters_then_arguments(void **state)
{
    (void)state;
    assert_taken(rh_names_shorten("a_function_with_a_name(first_parameter_type, "
                                  "second_parameter_type, third)"),
                 "a_function_with_a_name");
    assert_taken(rh_names_shorten("table<first_parameter_type, second_parameter_type, "
                                  "third_parameter_type>::add(int)"),
                 "table<...>::add");
}

static void test_functions_in_sentences_have_no_parameters(void **state)
{
    (void)state;
    assert_taken(rh_names_shorten_function("journal::add(int, long)"), "journal::add");
    assert_taken(rh_names_shorten_function("box<int (*)(long)>::call(int) const"),
                 "box<int (*)(long)>::call");
    assert_taken(rh_names_shorten_function("main::$_0::operator()() const"), "main::{lambda#1}");
    assert_taken(rh_names_shorten_function("point::operator=(point&&)"), "point::operator=");
    assert_taken(rh_names_shorten_function("point::operator<(point const&) const"),
                 "point::operator<");
}

static void test_mangled_names_in_texts(void **state)
{
    (void)state;
    assert_taken(rh_names_readable("global _Z5stockB5cxx11"), "global stock");
    assert_taken(rh_names_readable("&_ZL10stock_lock, m"), "&stock_lock, m");
    assert_taken(rh_names_readable("global a_Zone, _Znot"), "global a_Zone, _Znot");
}

static void test_locks_as_the_language_writes_them(void **state)
{
    (void)state;
    assert_taken(rh_names_locks("&bank->lock", "deposit"), "&bank->lock");
    assert_taken(rh_names_locks("&stock_lock, &this->m", "_Z7deliveri"), "stock_lock, this->m");
    assert_taken(rh_names_locks("&_ZL1m", NULL), "&m");
    assert_taken(rh_names_locks("", "_Z7deliveri"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_demangle),
        cmocka_unit_test(test_constraints_of_newer_compilers_are_left_out),
        cmocka_unit_test(test_shorten),
        cmocka_unit_test(test_long_names_lose_parameters_then_arguments),
        cmocka_unit_test(test_functions_in_sentences_have_no_parameters),
        cmocka_unit_test(test_mangled_names_in_texts),
        cmocka_unit_test(test_locks_as_the_language_writes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
