// httpd's headers, all from here: they are C, their macros clash with each other's and ours, and their order matters.
#pragma once

// C++20 has designated initializers, which httpd does not know: with them AP_INIT_TAKE1 and its like check the type of
// a directive's function.
#define AP_HAVE_DESIGNATED_INITIALIZER

#include <httpd.h>
// httpd.h first.
#include <ap_mmn.h>
#include <ap_provider.h>
#include <apr_buckets.h>
#include <apr_hash.h>
#include <apr_lib.h>
#include <apr_optional.h>
#include <apr_shm.h>
#include <apr_strings.h>
#include <apr_tables.h>
#include <apr_time.h>
#include <http_config.h>
#include <http_connection.h>
#include <http_core.h>
#include <http_log.h>
#include <http_main.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>
#include <util_script.h>
