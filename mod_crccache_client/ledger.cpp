#include "ledger.h"

#include <bit>

#include "shared_memory.h"

namespace crcsync::client {

namespace {

// A URL may stand in any entry of one set.
constexpr std::size_t set_count = 4096;
constexpr std::size_t set_size = 4;
constexpr std::size_t ledger_bytes = set_count * set_size * sizeof(LedgerEntry);

constexpr std::uint32_t hour = 3600;
constexpr std::uint32_t tolerated_breaks = 8;
constexpr std::uint32_t break_pause = 300;

LedgerEntry* entries = nullptr;  // set while one thread runs

std::uint32_t now() {
    return static_cast<std::uint32_t>(apr_time_sec(apr_time_now()));
}

constexpr auto relaxed = std::memory_order_relaxed;

// Notes that something has happened now; true if it had within the last hour.
bool is_second(std::atomic<std::uint32_t>& last_time) {
    const std::uint32_t time = now();
    const std::uint32_t last = last_time.exchange(time, relaxed);
    return last != 0 && time - last < hour;
}

// Applies `change` to the history. Gives up where others change it at the same time: one lesson more or less.
template <class Change>
void update(LedgerEntry* entry, Change&& change) {
    if (entry == nullptr) return;
    std::uint64_t old = entry->history.load(relaxed);
    for (int attempt = 0; attempt < 4; ++attempt) {
        auto history = std::bit_cast<DeltaHistory>(old);
        change(history);
        if (entry->history.compare_exchange_weak(old, std::bit_cast<std::uint64_t>(history), relaxed)) return;
    }
}

}  // namespace

void open_ledger(server_rec* server) {
    entries = static_cast<LedgerEntry*>(shared_memory(server, "crcsync-client-ledger-2", ledger_bytes));
}

LedgerPage ledger_page(std::uint64_t url) {
    if (entries == nullptr) return LedgerPage();
    LedgerEntry* set = entries + url % set_count * set_size;
    LedgerEntry* oldest = set;
    for (LedgerEntry* entry = set; entry != set + set_size; ++entry) {
        if (entry->url.load(relaxed) == url) {
            entry->last_use.store(now(), relaxed);
            return LedgerPage(entry);
        }
        if (entry->last_use.load(relaxed) < oldest->last_use.load(relaxed)) oldest = entry;
    }
    oldest->url.store(url, relaxed);
    oldest->history.store(0, relaxed);
    oldest->stopped_until.store(0, relaxed);
    oldest->last_mismatch.store(0, relaxed);
    oldest->breaks.store(0, relaxed);
    oldest->last_use.store(now(), relaxed);
    return LedgerPage(oldest);
}

Reason LedgerPage::stopped() const {
    if (entry_ == nullptr) return Reason::none;
    const std::uint32_t until = entry_->stopped_until.load(relaxed);
    const std::uint32_t time = now();
    // A clock that was set back must not stop a URL for years.
    if (until <= time || until - time > hour) return Reason::none;
    const std::uint32_t reason = entry_->stop_reason.load(relaxed);
    return reason < reason_count ? static_cast<Reason>(reason) : Reason::none;
}

void LedgerPage::stop(Reason reason, std::uint32_t seconds) {
    if (entry_ == nullptr) return;
    entry_->stop_reason.store(static_cast<std::uint32_t>(reason), relaxed);
    entry_->stopped_until.store(now() + seconds, relaxed);
}

void LedgerPage::mismatch(Reason reason) {
    if (entry_ != nullptr && is_second(entry_->last_mismatch)) stop(reason);
}

void LedgerPage::broke(Reason reason) {
    if (entry_ != nullptr && ++entry_->breaks >= tolerated_breaks) stop(reason, break_pause);
}

std::uint32_t LedgerPage::next_blocks(std::uint32_t planned) {
    std::uint32_t blocks = planned;
    update(entry_, [&](DeltaHistory& history) { blocks = history.next_blocks(planned); });
    return blocks;
}

void LedgerPage::plain(std::uint64_t wire, std::uint64_t instance) {
    update(entry_, [=](DeltaHistory& history) { history.plain(wire, instance); });
}

void LedgerPage::refused() {
    if (entry_ != nullptr) entry_->breaks.store(0, relaxed);
    update(entry_, [](DeltaHistory& history) { history.refused(); });
}

void LedgerPage::delta(std::uint64_t request, std::uint64_t wire, std::uint64_t instance, std::uint64_t literal_bytes,
                       std::uint64_t literal_wire) {
    if (entry_ != nullptr) entry_->breaks.store(0, relaxed);
    update(entry_, [=](DeltaHistory& history) { history.delta(request, wire, instance, literal_bytes, literal_wire); });
}

}  // namespace crcsync::client
