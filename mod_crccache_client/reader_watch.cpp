#include "reader_watch.h"

#include <apr_portable.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace crcsync::client {

namespace {

constexpr apr_interval_time_t pause = APR_USEC_PER_SEC;

// Seconds without a sign of the reader before the first probe and before each other, and how many may be lost.
constexpr int probe_idle = 5;
constexpr int probe_interval = 5;
constexpr int probe_count = 4;

void set_option(int socket, int level, int name, int value) {
    // Where it cannot be set, the reader's absence shows at the end, as it does in httpd itself.
    (void)setsockopt(socket, level, name, &value, sizeof(value));
}

}  // namespace

ReaderWatch::ReaderWatch(conn_rec* c) : c_(c), last_look_(apr_time_now()) {
    apr_socket_t* socket = c->master == nullptr ? ap_get_conn_socket(c) : nullptr;
    apr_os_sock_t descriptor = -1;
    if (socket != nullptr && apr_os_sock_get(&descriptor, socket) == APR_SUCCESS) socket_ = descriptor;
}

bool ReaderWatch::is_gone() {
    if (c_->aborted != 0) return true;
    const apr_time_t now = apr_time_now();
    // The clock may have been set back.
    if (socket_ < 0 || (now >= last_look_ && now - last_look_ < pause)) return false;
    last_look_ = now;
    return look();
}

bool ReaderWatch::look() {
    pollfd state = {socket_, POLLRDHUP, 0};
    if (poll(&state, 1, 0) != 1) return false;
    if ((state.revents & (POLLERR | POLLHUP)) != 0) return true;
    if ((state.revents & POLLRDHUP) != 0 && !probing_) probe();
    return false;
}

void ReaderWatch::probe() {
    probing_ = true;
    set_option(socket_, IPPROTO_TCP, TCP_KEEPIDLE, probe_idle);
    set_option(socket_, IPPROTO_TCP, TCP_KEEPINTVL, probe_interval);
    set_option(socket_, IPPROTO_TCP, TCP_KEEPCNT, probe_count);
    set_option(socket_, SOL_SOCKET, SO_KEEPALIVE, 1);
}

}  // namespace crcsync::client
