// Writes a GGUF file of the llama architecture with random weights, to measure shapes of which no
// file is at hand. The values are as wide as a trained model's, so that no pass overflows, and mean
// nothing. All matrices have the one type, norms are ones, and the vocabulary is byte-level BPE of
// made-up words.
//
//   synthetic_model --type Q8_0 FILE          22 layers of 2048: 1.1 billion weights
#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace {

struct Shape {
  int layers = 22;
  int dim = 2048;
  int heads = 32;
  int kv_heads = 4;
  int ffn = 5632;
  int vocabulary = 32'000;
  int context = 8192;
};

// SplitMix64 (Steele, Lea, Flood, 2014): a gigabyte of it takes a third of a second.
class Random {
 public:
  std::uint64_t Bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  void Fill(unsigned char* out, std::size_t n) {
    for (std::size_t i = 0; i < n; i += 8) {
      const std::uint64_t bits = Bits();
      std::memcpy(out + i, &bits, std::min<std::size_t>(8, n - i));
    }
  }

 private:
  std::uint64_t state_ = 1;
};

// A block format: how many elements and bytes a block has, and how one is made of random bytes.
struct Format {
  std::uint32_t id;         // GGUF's number of the tensor type
  std::uint32_t file_type;  // general.file_type of a file of such matrices
  int elements;
  std::size_t bytes;
  void (*make)(Random& random, unsigned char* block);
};

void PutHalf(unsigned char* at, std::uint16_t half) { std::memcpy(at, &half, 2); }

// Scales as float16, for a standard deviation of the weights of about 0.02.
constexpr std::uint16_t kScaleQ8_0 = 0x0C79;    // 2.7e-4
constexpr std::uint16_t kScaleQ4_0 = 0x1C67;    // 4.3e-3
constexpr std::uint16_t kScaleQ4_K = 0x051C;    // 7.8e-5
constexpr std::uint16_t kMinimumQ4_K = 0x10CC;  // 5.85e-4: 7.5 scales, so that the mean is zero

void MakeF32(Random& random, unsigned char* block) {
  const double uniform = static_cast<double>(random.Bits() >> 11) * 0x1p-53;
  const auto value = static_cast<float>(0.07 * (uniform - 0.5));
  std::memcpy(block, &value, 4);
}

void MakeBF16(Random& random, unsigned char* block) {
  unsigned char value[4];
  MakeF32(random, value);
  std::memcpy(block, value + 2, 2);  // cut, not rounded: the weights are random anyway
}

void MakeQ8_0(Random& random, unsigned char* block) {
  PutHalf(block, kScaleQ8_0);
  random.Fill(block + 2, 32);
  // Quantisers make -127 to 127.
  for (int i = 2; i < 34; ++i) block[i] = block[i] == 0x80 ? 0x81 : block[i];
}

void MakeQ4_0(Random& random, unsigned char* block) {
  PutHalf(block, kScaleQ4_0);
  random.Fill(block + 2, 16);
}

void MakeQ4_K(Random& random, unsigned char* block) {
  PutHalf(block, kScaleQ4_K);
  PutHalf(block + 2, kMinimumQ4_K);
  random.Fill(block + 4, 140);
}

const std::map<std::string, Format> kFormats = {{"F32", {0, 0, 1, 4, MakeF32}},
                                                {"BF16", {30, 32, 1, 2, MakeBF16}},
                                                {"Q8_0", {8, 7, 32, 34, MakeQ8_0}},
                                                {"Q4_0", {2, 2, 32, 18, MakeQ4_0}},
                                                {"Q4_K", {12, 14, 256, 144, MakeQ4_K}}};

struct Tensor {
  std::string name;
  std::vector<int> sizes;  // GGUF's order: the fast dimension first
};

std::vector<Tensor> Tensors(const Shape& shape) {
  const int kv_dim = shape.dim / shape.heads * shape.kv_heads;
  std::vector<Tensor> tensors = {{"token_embd.weight", {shape.dim, shape.vocabulary}},
                                 {"output_norm.weight", {shape.dim}},
                                 {"output.weight", {shape.dim, shape.vocabulary}}};
  for (int layer = 0; layer < shape.layers; ++layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    const auto add = [&](const std::string& name, std::vector<int> sizes) {
      tensors.push_back({prefix + name + ".weight", std::move(sizes)});
    };
    add("attn_norm", {shape.dim});
    add("attn_q", {shape.dim, shape.dim});
    add("attn_k", {shape.dim, kv_dim});
    add("attn_v", {shape.dim, kv_dim});
    add("attn_output", {shape.dim, shape.dim});
    add("ffn_norm", {shape.dim});
    add("ffn_gate", {shape.dim, shape.ffn});
    add("ffn_up", {shape.dim, shape.ffn});
    add("ffn_down", {shape.ffn, shape.dim});
  }
  return tensors;
}

std::int64_t Elements(const Tensor& tensor) {
  std::int64_t n = 1;
  for (const int size : tensor.sizes) n *= size;
  return n;
}

// Byte-level BPE writes each byte as a letter: visible Latin-1 as it is, the others from U+0100 on.
std::string ByteLetter(int byte) {
  const auto visible = [](int b) {
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
  };
  int code = byte;
  if (!visible(byte)) {
    code = 0x100;
    for (int b = 0; b < byte; ++b) code += visible(b) ? 0 : 1;
  }
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

struct Words {
  std::vector<std::string> tokens;  // id 0 is the end of a text, then the bytes, then the merges
  std::vector<std::string> merges;
};

Words MakeWords(int size) {
  Words words;
  words.tokens.emplace_back("<|endoftext|>");
  for (int byte = 0; byte < 256; ++byte) words.tokens.push_back(ByteLetter(byte));
  // Two words that exist make the next one: two letters, then what two of those make.
  std::vector<std::string> parts;
  for (char letter = 'a'; letter <= 'z'; ++letter) parts.emplace_back(1, letter);
  std::unordered_set<std::string> made;
  while (static_cast<int>(words.tokens.size()) < size) {
    std::vector<std::string> longer;
    for (const std::string& left : parts) {
      for (const std::string& right : parts) {
        if (static_cast<int>(words.tokens.size()) == size) return words;
        if (!made.insert(left + right).second) continue;
        words.tokens.push_back(left + right);
        words.merges.push_back(left + " " + right);
        longer.push_back(left + right);
      }
    }
    parts = std::move(longer);
  }
  return words;
}

class GgufWriter {
 public:
  explicit GgufWriter(const std::filesystem::path& path) : out_(path, std::ios::binary) {}

  template <typename T>
  void Number(T value) {
    Bytes(&value, sizeof value);
  }
  void Text(const std::string& text) {
    Number<std::uint64_t>(text.size());
    Bytes(text.data(), text.size());
  }
  void Bytes(const void* data, std::size_t n) {
    out_.write(static_cast<const char*>(data), static_cast<std::streamsize>(n));
    written_ += n;
  }
  void Pad() {
    while (written_ % 32 != 0) Number<char>(0);
  }

  // Metadata; the numbers are GGUF's of types.
  void U32(const std::string& key, std::uint32_t value) { Key(key, 4), Number(value); }
  void F32(const std::string& key, float value) { Key(key, 6), Number(value); }
  void Bool(const std::string& key, bool value) { Key(key, 7), Number<char>(value ? 1 : 0); }
  void String(const std::string& key, const std::string& value) { Key(key, 8), Text(value); }
  void Strings(const std::string& key, const std::vector<std::string>& values) {
    Key(key, 9), Number<std::uint32_t>(8), Number<std::uint64_t>(values.size());
    for (const std::string& value : values) Text(value);
  }
  void Int32s(const std::string& key, const std::vector<std::int32_t>& values) {
    Key(key, 9), Number<std::uint32_t>(5), Number<std::uint64_t>(values.size());
    for (const std::int32_t value : values) Number(value);
  }

  bool Close() {
    out_.close();
    return out_.good();
  }

 private:
  void Key(const std::string& key, std::uint32_t type) { Text(key), Number(type); }

  std::ofstream out_;
  std::uint64_t written_ = 0;
};

constexpr int kMetadata = 21;  // keys below

void WriteMetadata(GgufWriter& out, const Shape& shape, const std::string& type,
                   std::uint32_t file_type) {
  const auto u32 = [&](const std::string& key, int value) {
    out.U32(key, static_cast<std::uint32_t>(value));
  };
  out.String("general.architecture", "llama");
  out.String("general.name", "synthetic " + type);
  out.U32("general.file_type", file_type);
  u32("llama.context_length", shape.context);
  u32("llama.embedding_length", shape.dim);
  u32("llama.block_count", shape.layers);
  u32("llama.feed_forward_length", shape.ffn);
  u32("llama.attention.head_count", shape.heads);
  u32("llama.attention.head_count_kv", shape.kv_heads);
  u32("llama.rope.dimension_count", shape.dim / shape.heads);
  out.F32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  out.F32("llama.rope.freq_base", 10'000);
  const Words words = MakeWords(shape.vocabulary);
  std::vector<std::int32_t> kinds(words.tokens.size(), 1);  // normal
  kinds[0] = 3;                                             // control
  out.String("tokenizer.ggml.model", "gpt2");
  out.String("tokenizer.ggml.pre", "smollm");
  out.Strings("tokenizer.ggml.tokens", words.tokens);
  out.Int32s("tokenizer.ggml.token_type", kinds);
  out.Strings("tokenizer.ggml.merges", words.merges);
  u32("tokenizer.ggml.bos_token_id", 0);
  u32("tokenizer.ggml.eos_token_id", 0);
  u32("tokenizer.ggml.padding_token_id", 0);
  out.Bool("tokenizer.ggml.add_bos_token", false);
}

void WriteTable(GgufWriter& out, const std::vector<Tensor>& tensors, const Format& format) {
  std::uint64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    const bool norm = tensor.sizes.size() == 1;
    out.Text(tensor.name);
    out.Number(static_cast<std::uint32_t>(tensor.sizes.size()));
    for (const int size : tensor.sizes) out.Number(static_cast<std::uint64_t>(size));
    out.Number<std::uint32_t>(norm ? 0 : format.id);
    out.Number(offset);
    const auto n = static_cast<std::uint64_t>(Elements(tensor));
    const std::uint64_t bytes =
        norm ? 4 * n : n / static_cast<std::uint64_t>(format.elements) * format.bytes;
    offset += (bytes + 31) / 32 * 32;
  }
}

void WriteTensors(GgufWriter& out, const std::vector<Tensor>& tensors, const Format& format) {
  Random random;
  std::vector<unsigned char> buffer;
  for (const Tensor& tensor : tensors) {
    out.Pad();
    const std::int64_t n = Elements(tensor);
    if (tensor.sizes.size() == 1) {
      for (std::int64_t i = 0; i < n; ++i) out.Number(1.0F);
      continue;
    }
    buffer.resize(static_cast<std::size_t>(n / format.elements) * format.bytes);
    for (std::size_t at = 0; at < buffer.size(); at += format.bytes) {
      format.make(random, buffer.data() + at);
    }
    out.Bytes(buffer.data(), buffer.size());
  }
  out.Pad();
}

// Into a file beside it first, so that what has the name is whole.
bool Write(const std::filesystem::path& path, const Shape& shape, const std::string& type) {
  const Format& format = kFormats.at(type);
  const std::vector<Tensor> tensors = Tensors(shape);
  const std::filesystem::path unfinished = path.string() + ".unfinished";
  GgufWriter out(unfinished);
  out.Bytes("GGUF", 4);
  out.Number<std::uint32_t>(3);
  out.Number<std::uint64_t>(tensors.size());
  out.Number<std::uint64_t>(kMetadata);
  WriteMetadata(out, shape, type, format.file_type);
  WriteTable(out, tensors, format);
  WriteTensors(out, tensors, format);
  std::error_code error;
  if (out.Close()) std::filesystem::rename(unfinished, path, error);
  return !error && std::filesystem::exists(path);
}

}  // namespace

int main(int argc, char** argv) {
  Shape shape;
  std::string type = "Q8_0";
  std::string file;
  CLI::App app("Writes a llama GGUF file with random weights");
  app.add_option("--type", type, "of all matrices")
      ->check(CLI::IsMember({"F32", "BF16", "Q8_0", "Q4_0", "Q4_K"}))
      ->capture_default_str();
  const std::vector<std::pair<std::string, int*>> sizes = {
      {"--layers", &shape.layers},     {"--dim", &shape.dim}, {"--heads", &shape.heads},
      {"--kv-heads", &shape.kv_heads}, {"--ffn", &shape.ffn}, {"--vocabulary", &shape.vocabulary},
      {"--context", &shape.context}};
  for (const auto& [name, size] : sizes) {
    app.add_option(name, *size)->check(CLI::Range(1, 1 << 20))->capture_default_str();
  }
  app.add_option("FILE", file, "to write")->required();
  CLI11_PARSE(app, argc, argv);
  const int block = kFormats.at(type).elements;
  if (shape.dim % block != 0 || shape.ffn % block != 0 || shape.dim % shape.heads != 0 ||
      shape.heads % shape.kv_heads != 0 || shape.vocabulary < 257) {
    std::cerr << "synthetic_model: --dim and --ffn are multiples of " << block << " for " << type
              << ", --dim of --heads, --heads of --kv-heads, and --vocabulary is at least 257\n";
    return 2;
  }
  if (Write(file, shape, type)) return 0;
  std::cerr << "synthetic_model: could not write " << file << "\n";
  return 1;
}
