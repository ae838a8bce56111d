#include "digest.h"

#include <openssl/evp.h>

#include <stdexcept>

namespace crcsync {

struct Sha1::Context {
    EVP_MD_CTX* evp = EVP_MD_CTX_new();
    Context() = default;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() { EVP_MD_CTX_free(evp); }
};

Sha1::Sha1() : context_(std::make_unique<Context>()) {
    if (context_->evp == nullptr || EVP_DigestInit_ex(context_->evp, EVP_sha1(), nullptr) != 1) {
        throw std::runtime_error("OpenSSL offers no SHA-1");
    }
}

Sha1::~Sha1() = default;
Sha1::Sha1(Sha1&&) noexcept = default;
Sha1& Sha1::operator=(Sha1&&) noexcept = default;

void Sha1::update(Bytes data) {
    if (EVP_DigestUpdate(context_->evp, data.data(), data.size()) != 1) {
        throw std::runtime_error("OpenSSL failed in SHA-1");
    }
}

Sha1Value Sha1::finish() {
    Sha1Value value{};
    unsigned size = 0;
    if (EVP_DigestFinal_ex(context_->evp, value.data(), &size) != 1 || size != value.size()) {
        throw std::runtime_error("OpenSSL failed in SHA-1");
    }
    return value;
}

Sha1Value sha1(Bytes data) {
    Sha1 hash;
    hash.update(data);
    return hash.finish();
}

}  // namespace crcsync
