#include "tests/parquet/value_pool.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace pistachio::test {

namespace {

using Int128 = __int128;
using parquet::LogicalType;

constexpr int64_t kMicrosPerDay = 86'400'000'000;

struct IntegerRange {
  int64_t low;
  int64_t high;
};

int64_t power_of_ten(int exponent) {
  int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// Values that are valid for the type: the engine may reject others (a time of 25 hours, a date that no timestamp can represent).
IntegerRange integer_range(const StoredType& stored) {
  constexpr IntegerRange all32 = {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  constexpr IntegerRange all64 = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  const LogicalType& annotation = *stored.annotation;
  bool narrow = stored.physical == parquet::Type::INT32;
  if (stored.physical == parquet::Type::BOOLEAN) return {0, 1};
  if (annotation.is_int()) {
    const auto& integer = static_cast<const parquet::IntLogicalType&>(annotation);
    if (integer.bit_width() >= 32) return integer.bit_width() == 32 ? all32 : all64;
    int64_t span = int64_t{1} << integer.bit_width();
    return integer.is_signed() ? IntegerRange{-span / 2, span / 2 - 1} : IntegerRange{0, span - 1};
  }
  if (annotation.is_decimal()) {
    int64_t most = power_of_ten(static_cast<const parquet::DecimalLogicalType&>(annotation).precision()) - 1;
    return {-most, most};
  }
  if (annotation.is_date()) return {-719'162, 2'932'896};  // years 1 to 9999
  if (annotation.is_time()) {
    auto unit = static_cast<const parquet::TimeLogicalType&>(annotation).time_unit();
    int64_t day = unit == LogicalType::TimeUnit::MILLIS   ? kMicrosPerDay / 1000
                  : unit == LogicalType::TimeUnit::MICROS ? kMicrosPerDay
                                                          : kMicrosPerDay * 1000;
    return {0, day - 1};
  }
  if (annotation.is_timestamp()) {
    auto unit = static_cast<const parquet::TimestampLogicalType&>(annotation).time_unit();
    if (unit == LogicalType::TimeUnit::MILLIS) return {all64.low / 1000, all64.high / 1000};
  }
  return narrow ? all32 : all64;
}

void fill_integers(const StoredType& stored, int distinct, std::mt19937_64& random, std::vector<int64_t>& pool) {
  IntegerRange range = integer_range(stored);
  uint64_t span = static_cast<uint64_t>(range.high) - static_cast<uint64_t>(range.low);  // high - low, without overflow
  for (int64_t value : {range.low, range.high, int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{-1500}, int64_t{999}}) {
    if (value >= range.low && value <= range.high) pool.push_back(value);
  }
  while (static_cast<int>(pool.size()) < distinct) {
    uint64_t raw = random();
    // Half of them small (narrow deltas, few bits), half over the whole range.
    uint64_t step = raw % 2 ? (raw >> 8) % 5000 : (span == ~uint64_t{0} ? random() : random() % (span + 1));
    uint64_t base = static_cast<uint64_t>(raw % 2 && range.low < 0 && range.high > 5000 ? 0 : range.low);
    pool.push_back(static_cast<int64_t>(base + (span == ~uint64_t{0} ? step : step % (span + 1))));
  }
}

void fill_floats(bool is_float, int distinct, std::mt19937_64& random, std::vector<double>& pool) {
  using Double = std::numeric_limits<double>;
  using Float = std::numeric_limits<float>;
  pool = {0.0, -0.0, std::nan(""), Double::infinity(), -Double::infinity(), 1.5, -1e-3};
  if (is_float) {
    pool.insert(pool.end(), {Float::max(), Float::lowest(), Float::denorm_min(), Float::min()});
  } else {
    pool.insert(pool.end(), {Double::max(), Double::lowest(), Double::denorm_min(), Double::min()});
  }
  while (static_cast<int>(pool.size()) < distinct) {
    double value = static_cast<double>(static_cast<int64_t>(random())) / 9.2e18;
    pool.push_back(std::ldexp(value, static_cast<int>(random() % 60) - 30));
  }
}

std::string random_bytes(size_t length, std::mt19937_64& random) {
  std::string bytes(length, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Big-endian two's complement.
std::string big_endian(Int128 value, int width) {
  std::string bytes(static_cast<size_t>(width), '\0');
  for (int i = width - 1; i >= 0; --i) {
    bytes[static_cast<size_t>(i)] = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return bytes;
}

int shortest_width(Int128 value) {
  int width = 1;
  while (width < 16 && (value >> (8 * width - 1)) != 0 && (value >> (8 * width - 1)) != -1) ++width;
  return width;
}

void fill_decimals(const StoredType& stored, int distinct, std::mt19937_64& random, std::vector<std::string>& pool) {
  int precision = static_cast<const parquet::DecimalLogicalType&>(*stored.annotation).precision();
  Int128 most = 1;
  for (int i = 0; i < precision; ++i) most *= 10;
  std::vector<Int128> values = {0, 1, -1, most - 1, 1 - most};
  while (static_cast<int>(values.size()) < distinct) {
    auto wide = static_cast<unsigned __int128>(random()) << 64 | random();
    Int128 value = static_cast<Int128>(wide % static_cast<unsigned __int128>(most));
    if (random() % 2) value %= 1000;
    values.push_back(random() % 2 ? value : -value);
  }
  for (Int128 value : values) {
    // Variable length: as short as possible, sometimes with redundant sign bytes.
    int width = stored.width > 0 ? stored.width : std::min(16, shortest_width(value) + static_cast<int>(random() % 3 == 0));
    pool.push_back(big_endian(value, width));
  }
}

void fill_int96(int distinct, std::mt19937_64& random, std::vector<std::string>& pool) {
  constexpr uint32_t epoch_julian_day = 2'440'588;
  constexpr uint64_t nanos_per_day = 86'400'000'000'000;
  auto add = [&](int32_t day, uint64_t nanos) {
    std::string bytes(12, '\0');
    uint32_t julian = epoch_julian_day + static_cast<uint32_t>(day);
    std::memcpy(bytes.data(), &nanos, 8);
    std::memcpy(bytes.data() + 8, &julian, 4);
    pool.push_back(bytes);
  };
  add(0, 0);
  add(-1, nanos_per_day - 1);
  add(-135'000, 999);       // 1600
  add(193'000, 1'000'001);  // 2498
  while (static_cast<int>(pool.size()) < distinct) add(static_cast<int32_t>(random() % 100'000) - 50'000, random() % nanos_per_day);
}

void fill_fixed_bytes(const StoredType& stored, int distinct, std::mt19937_64& random, std::vector<std::string>& pool) {
  auto width = static_cast<size_t>(stored.width);
  if (stored.annotation->is_float16()) {
    // 0, -0, 1, largest, smallest subnormal, infinities, NaN
    for (int bits : {0x0000, 0x8000, 0x3c00, 0x7bff, 0xfbff, 0x0001, 0x7c00, 0xfc00, 0x7e00}) {
      pool.push_back({static_cast<char>(bits & 0xff), static_cast<char>(bits >> 8)});
    }
  } else {
    pool.push_back(std::string(width, '\0'));
    pool.push_back(std::string(width, '\xff'));
  }
  while (static_cast<int>(pool.size()) < distinct) {
    std::string value = random_bytes(width, random);
    // Common prefixes give DELTA_BYTE_ARRAY something to do.
    if (random() % 2) value.replace(0, width / 2, pool.back().substr(0, width / 2));
    pool.push_back(value);
  }
  if (!stored.annotation->is_interval()) return;
  for (std::string& value : pool) {
    // Months and days are unsigned in the file; the engine's INTERVAL has the signed range.
    value[3] = static_cast<char>(value[3] & 0x7f);
    value[7] = static_cast<char>(value[7] & 0x7f);
  }
}

void fill_texts(const StoredType& stored, int distinct, std::mt19937_64& random, std::vector<std::string>& pool) {
  bool is_text = stored.expected.kind() == TypeKind::Varchar;
  bool is_long = stored.name == "long_text";
  pool = {"", "a", "blank at the end ", std::string(300, 'x'), "twelve bytes", "twelve bytes and more"};
  if (is_text) {
    pool.insert(pool.end(), {"\xc3\xa9t\xc3\xa9", "\xe2\x82\xac 5", "\xf0\x9f\x8c\xb0"});
  } else {
    pool.insert(pool.end(), {std::string("\0", 1), std::string("a\0b", 3), "\xff\xfe"});
  }
  if (is_long) pool.push_back(std::string(70'000, 'y'));
  while (static_cast<int>(pool.size()) < distinct) {
    size_t length = random() % (is_long && random() % 20 == 0 ? 5000 : random() % 4 == 0 ? 60 : 12);
    std::string value = is_text ? std::string(length, ' ') : random_bytes(length, random);
    if (is_text) {
      for (char& letter : value) letter = static_cast<char>('a' + random() % 26);
    }
    // A common prefix; 20 bytes never split a character, since multi-byte characters are at the front.
    if (random() % 2) value = pool.back().substr(0, 20) + value;
    pool.push_back(value);
  }
}

}  // namespace

ValuePool make_value_pool(const StoredType& stored, int distinct, std::mt19937_64& random) {
  ValuePool pool;
  switch (stored.physical) {
    case parquet::Type::BOOLEAN: pool.integers = {0, 1}; break;
    case parquet::Type::INT32:
    case parquet::Type::INT64: fill_integers(stored, distinct, random, pool.integers); break;
    case parquet::Type::FLOAT:
    case parquet::Type::DOUBLE: fill_floats(stored.physical == parquet::Type::FLOAT, distinct, random, pool.floats); break;
    case parquet::Type::INT96: fill_int96(distinct, random, pool.bytes); break;
    default:
      if (stored.annotation->is_decimal()) {
        fill_decimals(stored, distinct, random, pool.bytes);
      } else if (stored.physical == parquet::Type::FIXED_LEN_BYTE_ARRAY) {
        fill_fixed_bytes(stored, distinct, random, pool.bytes);
      } else {
        fill_texts(stored, distinct, random, pool.bytes);
      }
  }
  return pool;
}

}  // namespace pistachio::test
