// Faults that a test asks for, put into a real httpd by LD_PRELOAD: memory that runs out at a chosen allocation, or
// descriptors at a chosen file or socket, no shared memory, and a wall clock that is wrong.
//
// The test and all processes of that httpd share a small file (CRCSYNC_FAULTS names it, CRCSync::Faults writes it).
// What counts as an allocation is what the modules under test and the libraries that work for them ask for: every
// operator new, since httpd itself is C, and every malloc whose caller is one of these objects.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

// The file. Numbers of the machine's own byte order, as Perl's pack 'q' writes them.
struct Control {
    std::atomic<std::int64_t> first;     // allocations with numbers from `first` to `last` fail; 0: none
    std::atomic<std::int64_t> last;      //
    std::atomic<std::int64_t> count;     // allocations so far
    std::atomic<std::int64_t> failures;  // of these, how many failed
    std::atomic<std::int64_t> clock;     // seconds that the wall clock is ahead
    std::atomic<std::int64_t> unshared;  // not 0: the modules get no shared memory
    std::atomic<std::int64_t> opens;     // not 0: not allocations are counted and fail, but what takes a descriptor
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

Control* open_control() noexcept {
    const char* name = std::getenv("CRCSYNC_FAULTS");
    const int file = name != nullptr ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return nullptr;
    void* memory = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return memory != MAP_FAILED ? static_cast<Control*>(memory) : nullptr;
}

// Constant initialization: malloc is called before any constructor runs.
std::atomic<Control*> control{nullptr};

[[gnu::constructor]] void begin() noexcept {
    control = open_control();
}

enum class Kind { allocation, open };

// Counts one allocation, or one descriptor; true if it is to fail.
bool fails(Kind kind) noexcept {
    Control* c = control.load(std::memory_order_relaxed);
    if (c == nullptr || c->first == 0 || (kind == Kind::open) != (c->opens != 0)) return false;
    const std::int64_t number = ++c->count;
    if (number < c->first || number > c->last) return false;
    ++c->failures;
    return true;
}

template <class Function>
Function* next(Function*& found, const char* name) noexcept {
    if (found == nullptr) found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
    return found;
}

decltype(malloc)* real_malloc = nullptr;
decltype(clock_gettime)* real_clock_gettime = nullptr;
using ShmCreate = int(void** memory, std::size_t size, const char* name, void* pool);  // apr_shm_create
ShmCreate* real_shm_create = nullptr;
decltype(open)* real_open = nullptr;
decltype(mkstemp)* real_mkstemp = nullptr;
decltype(socket)* real_socket = nullptr;

void* allocate(std::size_t size) noexcept {
    return fails(Kind::allocation) ? nullptr : next(real_malloc, "malloc")(size);
}

void* allocate_or_throw(std::size_t size) {
    void* memory = allocate(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

// Whether an address is code of a module under test, or of a library that only they use here.
bool is_under_test(const void* address) noexcept {
    Dl_info info{};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return false;
    return std::strstr(info.dli_fname, "/mod_crccache_") != nullptr ||
           std::strstr(info.dli_fname, "/libz.so") != nullptr ||
           std::strstr(info.dli_fname, "/libcrypto.so") != nullptr;
}

bool is_armed() noexcept {
    const Control* c = control.load(std::memory_order_relaxed);
    return c != nullptr && c->first != 0;
}

std::int64_t clock_offset() noexcept {
    const Control* c = control.load(std::memory_order_relaxed);
    return c != nullptr ? c->clock.load() : 0;
}

}  // namespace

void* operator new(std::size_t size) {
    return allocate_or_throw(size);
}
void* operator new[](std::size_t size) {
    return allocate_or_throw(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

extern "C" {

void* malloc(std::size_t size) {
    if (is_armed() && is_under_test(__builtin_return_address(0)) && fails(Kind::allocation)) return nullptr;
    return next(real_malloc, "malloc")(size);
}

// open() under its own name: callers pass `mode`, or what happens to be in its register and nobody looks at.
int open_or_fail(const char* path, int flags, mode_t mode) asm("open");

int open_or_fail(const char* path, int flags, mode_t mode) {
    if (!fails(Kind::open)) return next(real_open, "open")(path, flags, mode);
    errno = EMFILE;
    return -1;
}

int mkstemp(char* name) {
    if (!fails(Kind::open)) return next(real_mkstemp, "mkstemp")(name);
    errno = EMFILE;
    return -1;
}

int socket(int domain, int type, int protocol) noexcept {
    if (!fails(Kind::open)) return next(real_socket, "socket")(domain, type, protocol);
    errno = EMFILE;
    return -1;
}

int apr_shm_create(void** memory, std::size_t size, const char* name, void* pool) {
    const Control* c = control.load(std::memory_order_relaxed);
    if (c != nullptr && c->unshared != 0 && is_under_test(__builtin_return_address(0))) return ENOMEM;
    return next(real_shm_create, "apr_shm_create")(memory, size, name, pool);
}

int clock_gettime(clockid_t id, timespec* time) {
    const int result = next(real_clock_gettime, "clock_gettime")(id, time);
    if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) time->tv_sec += clock_offset();
    return result;
}

int gettimeofday(timeval* time, void* /*zone*/) {
    timespec now{};
    const int result = clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return result;
}

time_t time(time_t* result) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != nullptr) *result = now.tv_sec;
    return now.tv_sec;
}
}
