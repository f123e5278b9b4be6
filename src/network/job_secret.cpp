#include "network/job_secret.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace pistachio {

namespace {

constexpr size_t kMinCharacters = 32;  // 128 bits in hex digits
constexpr size_t kMaxCharacters = 4096;

std::string random_bytes(size_t count) {
  ENSURE(sodium_init() >= 0, "libsodium could not be initialised");
  std::string bytes(count, '\0');
  randombytes_buf(bytes.data(), bytes.size());
  return bytes;
}

std::string_view without_space_around(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string read_private_file(const std::string& path) {
  auto refuse = [&](const std::string& why) { throw UserError(fmt::format("{} names {}, which {}", kSecretFileVariable, path, why)); };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  struct stat facts {};
  std::string text(kMaxCharacters + 1, '\0');
  const bool has_facts = ::fstat(file, &facts) == 0;
  const ssize_t length = ::read(file, text.data(), text.size());
  ::close(file);
  if (!has_facts || !S_ISREG(facts.st_mode)) refuse("is not a file");
  if ((facts.st_mode & 077) != 0) refuse(fmt::format("others can read (mode {:o}): chmod 600 it", facts.st_mode & 0777));
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0) refuse("belongs to another user");
  if (length < 0) refuse("cannot be read");
  text.resize(static_cast<size_t>(length));
  return text;
}

}  // namespace

JobSecret JobSecret::random() {
  const std::string bytes = random_bytes(kProofBytes);
  std::string digits(2 * kProofBytes + 1, '\0');
  sodium_bin2hex(digits.data(), digits.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  digits.pop_back();  // the terminating zero
  return JobSecret(std::move(digits));
}

JobSecret JobSecret::from_text(std::string_view text, const std::string& origin) {
  std::string_view secret = without_space_around(text);
  if (secret.size() < kMinCharacters || secret.size() > kMaxCharacters) {
    throw UserError(fmt::format("{} has {} characters, and the secret of a job has {} to {}: make one with `openssl rand -hex 32`", origin,
                                secret.size(), kMinCharacters, kMaxCharacters));
  }
  return JobSecret(std::string(secret));
}

JobSecret JobSecret::from_environment(const EnvironmentLookup& environment) {
  if (const char* text = environment(kSecretVariable)) return from_text(text, kSecretVariable);
  if (const char* path = environment(kSecretFileVariable)) return from_text(read_private_file(path), path);
  throw UserError(
      fmt::format("the ranks of this job were started by another launcher and share no secret: give all of them the same {} (make one with "
                  "`openssl rand -hex 32`), or in {} the name of a file that has it, with mode 600",
                  kSecretVariable, kSecretFileVariable));
}

JobSecret JobSecret::for_job(std::string_view nonce) const {
  return JobSecret(prove("job", {nonce}));
}

std::string JobSecret::prove(std::string_view purpose, std::initializer_list<std::string_view> parts) const {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, reinterpret_cast<const unsigned char*>(text_.data()), text_.size());
  auto add = [&](std::string_view part) {
    const uint64_t length = part.size();
    crypto_auth_hmacsha256_update(&state, reinterpret_cast<const unsigned char*>(&length), sizeof length);
    crypto_auth_hmacsha256_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  };
  add(purpose);
  for (std::string_view part : parts) add(part);
  static_assert(kProofBytes == crypto_auth_hmacsha256_BYTES);
  std::string proof(kProofBytes, '\0');
  crypto_auth_hmacsha256_final(&state, reinterpret_cast<unsigned char*>(proof.data()));
  return proof;
}

bool JobSecret::is_proof(std::string_view proof, std::string_view purpose, std::initializer_list<std::string_view> parts) const {
  const std::string right = prove(purpose, parts);
  return proof.size() == right.size() && sodium_memcmp(proof.data(), right.data(), right.size()) == 0;
}

std::string JobSecret::nonce() {
  return random_bytes(kNonceBytes);
}

}  // namespace pistachio
