// What every unit test program has in common: one suite of tests, run by Check.
#pragma once

#include <check.h>
// An old macro of Check's, which breaks the standard library's headers.
#undef fail

#include <cstdlib>
#include <initializer_list>

// Runs the tests, each in a process of its own; returns main()'s exit status. There is no time limit for a test:
// machines and sanitizers differ, and ctest has one for the whole program.
inline int run_suite(const char* name, std::initializer_list<const TTest*> tests) {
    Suite* suite = suite_create(name);
    TCase* all = tcase_create(name);
    tcase_set_timeout(all, 0);
    for (const TTest* test : tests) tcase_add_test(all, test);
    suite_add_tcase(suite, all);

    SRunner* runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
