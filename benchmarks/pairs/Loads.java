import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.module.blackbird.BlackbirdModule;
import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdDictCompress;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import com.hedera.hashgraph.sdk.AccountBalanceQuery;
import com.hedera.hashgraph.sdk.AccountId;
import com.hedera.hashgraph.sdk.Client;
import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.incubator.codec.quic.QuicSslContext;
import io.netty.incubator.codec.quic.QuicSslContextBuilder;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import ml.dmlc.xgboost4j.java.DMatrix;
import ml.dmlc.xgboost4j.java.XGBoostError;
import org.HdrHistogram.Histogram;
import org.apache.curator.framework.imps.GzipCompressionProvider;
import org.apache.hadoop.conf.Configuration;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.store.MMapDirectory;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.CodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.fusesource.leveldbjni.JniDBFactory;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.WriteBatch;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.xerial.snappy.Snappy;
import software.amazon.awssdk.crt.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.crt.io.ClientBootstrap;
import software.amazon.awssdk.crt.io.EventLoopGroup;
import software.amazon.awssdk.crt.io.HostResolver;
import software.amazon.awssdk.crt.io.TlsContext;
import software.amazon.awssdk.crt.io.TlsContextOptions;
import software.amazon.awssdk.crt.s3.S3Client;
import software.amazon.awssdk.crt.s3.S3ClientOptions;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbBean;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbPartitionKey;

/**
 * Loads for the pairs of run.py. A pair runs a load twice: once with a library that leaks, and once
 * without the leak, because the library is fixed or is used correctly. Usage: {@code Loads NAME
 * DIRECTORY ROW}.
 *
 * <p>A load repeats the actions that lead to the leak according to a user's report. The load runs
 * at a fixed rate until the process is ended. Every repetition adds 1 to the counter {@code ROW} of
 * {@link Situation.Planted}.
 */
public final class Loads {
  private static final int KIB = 1 << 10;

  /** Whether to use the library as documented. Some loads misuse it if this is false. */
  private static final boolean RIGHT = Boolean.getBoolean("right");

  private Loads() {}

  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createDirectories(Path.of(arguments[1]));
    Events events = new Events(arguments[2]);
    switch (arguments[0]) {
      case "zstd-jni" -> events.every(2_000, new Dictionaries()::digest);
      case "rocksdbjni" -> new Lookups(directory).start(events);
      case "aws-crt" -> events.every(5_000, new Buckets()::connect);
      case "tokenizers" -> events.every(100, new Vectors()::read);
      case "xgboost4j" -> events.every(1_000, new Measurements()::load);
      case "HdrHistogram" -> events.every(100, new Latencies()::receive);
      case "dynamodb-enhanced" -> events.every(1_000, new Orders()::convert);
      case "hedera-sdk" -> events.every(1_000, new Ledger()::ask);
      case "lucene-core" -> new Articles(directory).start(events);
      case "temporary-buffers" -> events.every(1_000, new Records(directory)::store);
      case "snappy-java" -> events.every(100, new Version()::show);
      case "netty-buffer" -> events.every(4_000, new Messages()::encode);
      case "zstd-streams" -> events.every(4_000, new Exports()::export);
      case "leveldbjni" -> events.every(500, new Uploads(directory)::store);
      case "codec-quic" -> events.every(150, new Listeners(directory)::renew);
      case "netty-tcnative" -> events.every(100, new Sessions()::open);
      case "parquet" -> events.every(1_000, new Pages()::read);
      case "tokenizers-overflow" -> events.every(1_000, new Texts(directory)::encode);
      case "curator" -> events.every(2_000, new Configurations()::compress);
      case "blackbird" -> events.every(500, new Replies()::write);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  private static byte[] letters(int length) {
    byte[] letters = new byte[length];
    Random random = new Random(1);
    for (int i = 0; i < length; i++) {
      letters[i] = (byte) ('a' + random.nextInt(16));
    }
    return letters;
  }

  interface Step {
    void run() throws Exception;
  }

  /**
   * Repeats a step. Every repetition adds 1 to the counter {@code row} of {@link
   * Situation.Planted}.
   */
  private record Events(String row) {
    void every(long milliseconds, Step step) throws Exception {
      long next = System.nanoTime();
      while (true) {
        step.run();
        Situation.Planted.add(row, 1);
        next += milliseconds * 1_000_000;
        long wait = next - System.nanoTime();
        if (wait > 0) {
          Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
        } else {
          next = System.nanoTime();
        }
      }
    }

    void inThreads(int threads, long milliseconds, Step step) throws InterruptedException {
      List<Thread> started = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        Thread thread = new Thread(() -> endless(milliseconds, step));
        thread.start();
        started.add(thread);
      }
      for (Thread thread : started) {
        thread.join();
      }
    }

    private void endless(long milliseconds, Step step) {
      try {
        every(milliseconds, step);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Compresses a message with a dictionary that refers to the caller's buffer, and closes the dictionary each time. */
  private static final class Dictionaries {
    private final ByteBuffer content = ByteBuffer.allocateDirect(64 * KIB);
    private final byte[] message = new byte[KIB];

    Dictionaries() {
      Random random = new Random(1);
      while (content.hasRemaining()) {
        content.put((byte) ('a' + random.nextInt(16)));
      }
      random.nextBytes(message);
    }

    void digest() {
      try (ZstdDictCompress dictionary = prepare()) {
        Zstd.compress(message, dictionary);
      }
    }

    private ZstdDictCompress prepare() {
      content.clear();
      return new ZstdDictCompress(content, 3, true);
    }
  }

  /** Lets each of four threads read 1,000 keys in one call, five times a second. */
  private static final class Lookups {
    private static final int ENTRIES = 100_000;
    private static final int BATCH = 1_000;

    private final RocksDB database;

    /**
     * The options that all lookups pass to {@code multiGetByteBuffers}. A call without options
     * creates options and never closes them, even in the fixed version of the library.
     */
    private final ReadOptions options;

    Lookups(Path directory) throws RocksDBException {
      RocksDB.loadLibrary();
      options = new ReadOptions();
      database = RocksDB.open(new Options().setCreateIfMissing(true), directory.toString());
      for (int i = 0; i < ENTRIES; i++) {
        byte[] key = ByteBuffer.allocate(8).putLong(i).array();
        database.put(key, new byte[16]);
      }
      database.flush(new FlushOptions().setWaitForFlush(true));
    }

    void start(Events events) throws InterruptedException {
      ThreadLocal<Batch> batches = ThreadLocal.withInitial(Batch::new);
      events.inThreads(4, 200, () -> batches.get().read(database, options));
    }

    private static final class Batch {
      private final List<ByteBuffer> keys = new ArrayList<>();
      private final List<ByteBuffer> values = new ArrayList<>();
      private final Random random = new Random();

      Batch() {
        for (int i = 0; i < BATCH; i++) {
          keys.add(ByteBuffer.allocateDirect(8));
          values.add(ByteBuffer.allocateDirect(16));
        }
      }

      void read(RocksDB database, ReadOptions options) throws RocksDBException {
        for (int i = 0; i < BATCH; i++) {
          keys.get(i).clear().putLong(random.nextInt(ENTRIES)).flip();
          values.get(i).clear();
        }
        database.multiGetByteBuffers(options, keys, values);
      }
    }
  }

  /** Creates a client of S3 with a TLS context for each request, and closes both. */
  private static final class Buckets {
    private final EventLoopGroup loops = new EventLoopGroup(1);
    private final HostResolver resolver = new HostResolver(loops);
    private final ClientBootstrap bootstrap = new ClientBootstrap(loops, resolver);
    private final StaticCredentialsProvider credentials =
        new StaticCredentialsProvider.StaticCredentialsProviderBuilder()
            .withAccessKeyId("key".getBytes(StandardCharsets.UTF_8))
            .withSecretAccessKey("secret".getBytes(StandardCharsets.UTF_8))
            .build();

    void connect() throws Exception {
      try (TlsContextOptions options = TlsContextOptions.createDefaultClient();
          TlsContext tls = secure(options)) {
        S3Client client = create(tls);
        client.close();
        client.getShutdownCompleteFuture().get();
      }
    }

    private TlsContext secure(TlsContextOptions options) {
      return new TlsContext(options);
    }

    private S3Client create(TlsContext tls) {
      return new S3Client(
          new S3ClientOptions()
              .withRegion("us-east-1")
              .withClientBootstrap(bootstrap)
              .withCredentialsProvider(credentials)
              .withTlsContext(tls));
    }
  }

  private static final class Vectors {
    private final NDManager manager = NDManager.newBaseManager("Rust");
    private final float[] embedding = new float[4_096];

    void read() {
      try (NDArray array = manager.create(embedding)) {
        copy(array);
      }
    }

    private float[] copy(NDArray array) {
      return array.toFloatArray();
    }
  }

  /** Passes a matrix with an infinite value to the library, which refuses it. */
  private static final class Measurements {
    private static final int ROWS = 1_000;
    private static final int COLUMNS = 10;

    private final long[] headers = new long[ROWS + 1];
    private final int[] indices = new int[ROWS * COLUMNS];
    private final float[] values = new float[ROWS * COLUMNS];

    Measurements() {
      Arrays.setAll(headers, row -> (long) row * COLUMNS);
      Arrays.setAll(indices, index -> index % COLUMNS);
      Arrays.fill(values, 1.5f);
      values[values.length / 2] = Float.POSITIVE_INFINITY;
    }

    void load() {
      try {
        new DMatrix(headers, indices, values, DMatrix.SparseType.CSR, COLUMNS).dispose();
        throw new IllegalStateException("the matrix was not refused");
      } catch (XGBoostError expected) {
        return;
      }
    }
  }

  private static final class Latencies {
    private final ByteBuffer compressed;

    Latencies() {
      Histogram histogram = new Histogram(3);
      Random random = new Random(1);
      for (int i = 0; i < 10_000; i++) {
        histogram.recordValue(random.nextInt(100_000));
      }
      compressed = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
      histogram.encodeIntoCompressedByteBuffer(compressed);
      compressed.flip();
    }

    void receive() throws Exception {
      Histogram.decodeFromCompressedByteBuffer(compressed.duplicate(), 0);
    }
  }

  private static final class Orders {
    void convert() {
      TableSchema<Order> schema = describe();
      Order order = new Order();
      order.setId("1");
      schema.itemToMap(order, true);
    }

    private TableSchema<Order> describe() {
      return TableSchema.fromBean(Order.class);
    }
  }

  @DynamoDbBean
  public static class Order {
    private String id;
    private String customer;
    private String street;
    private String city;
    private String country;
    private Long amount;
    private Long tax;
    private Integer items;
    private Boolean paid;
    private Boolean sent;

    @DynamoDbPartitionKey
    public String getId() {
      return id;
    }

    public void setId(String id) {
      this.id = id;
    }

    public String getCustomer() {
      return customer;
    }

    public void setCustomer(String customer) {
      this.customer = customer;
    }

    public String getStreet() {
      return street;
    }

    public void setStreet(String street) {
      this.street = street;
    }

    public String getCity() {
      return city;
    }

    public void setCity(String city) {
      this.city = city;
    }

    public String getCountry() {
      return country;
    }

    public void setCountry(String country) {
      this.country = country;
    }

    public Long getAmount() {
      return amount;
    }

    public void setAmount(Long amount) {
      this.amount = amount;
    }

    public Long getTax() {
      return tax;
    }

    public void setTax(Long tax) {
      this.tax = tax;
    }

    public Integer getItems() {
      return items;
    }

    public void setItems(Integer items) {
      this.items = items;
    }

    public Boolean getPaid() {
      return paid;
    }

    public void setPaid(Boolean paid) {
      this.paid = paid;
    }

    public Boolean getSent() {
      return sent;
    }

    public void setSent(Boolean sent) {
      this.sent = sent;
    }
  }

  /** Creates a client of the Hedera network for each query, and closes the client. No node of the network answers. */
  private static final class Ledger {
    private static final AccountId NODE = new AccountId(3);

    void ask() throws Exception {
      Client client = create();
      try {
        new AccountBalanceQuery().setAccountId(NODE).executeAsync(client).get(500, TimeUnit.MILLISECONDS);
        throw new IllegalStateException("a node answered");
      } catch (TimeoutException | ExecutionException expected) {
        client.close();
      }
    }

    private Client create() throws Exception {
      return Client.forNetwork(Map.of("127.0.0.1:1", NODE)).setMaxAttempts(1);
    }
  }

  /**
   * Changes the field {@code readers} of some articles in an index every two seconds, while four
   * threads sort the articles by this field.
   */
  private static final class Articles {
    private static final int NUMBER = 100_000;

    private final IndexWriter writer;
    private final SearcherManager searchers;
    private final Random random = new Random(1);

    Articles(Path directory) throws Exception {
      IndexWriterConfig unmerged = new IndexWriterConfig().setMergePolicy(NoMergePolicy.INSTANCE).setRAMBufferSizeMB(64);
      writer = new IndexWriter(new MMapDirectory(directory), unmerged);
      for (int i = 0; i < NUMBER; i++) {
        Document article = new Document();
        article.add(new StringField("id", Integer.toString(i), Field.Store.NO));
        article.add(new NumericDocValuesField("readers", random.nextLong()));
        writer.addDocument(article);
      }
      writer.commit();
      searchers = new SearcherManager(writer, null);
    }

    void start(Events events) throws Exception {
      for (int i = 0; i < 4; i++) {
        Thread thread = new Thread(() -> new Events("count:searches").endless(1_000, this::search));
        thread.setDaemon(true);
        thread.start();
      }
      events.every(2_000, this::count);
    }

    private void count() throws Exception {
      for (int i = 0; i < 100; i++) {
        writer.updateNumericDocValue(new Term("id", Integer.toString(random.nextInt(NUMBER))), "readers", random.nextLong());
      }
      writer.commit();
      searchers.maybeRefreshBlocking();
    }

    private void search() throws Exception {
      IndexSearcher searcher = searchers.acquire();
      try {
        searcher.search(new MatchAllDocsQuery(), 10, new Sort(new SortField("readers", SortField.Type.LONG)));
      } finally {
        searchers.release(searcher);
      }
    }
  }

  /**
   * Writes records from heap buffers in 64 threads in turn. After each round the record is larger,
   * so that a thread needs a larger temporary buffer.
   */
  private static final class Records {
    private static final int THREADS = 64;
    private static final int STEP = 128 * KIB;

    private final FileChannel file;
    private final List<ExecutorService> writers = new ArrayList<>();
    private long turn;

    Records(Path directory) throws IOException {
      file = FileChannel.open(directory.resolve("records"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      for (int i = 0; i < THREADS; i++) {
        writers.add(Executors.newSingleThreadExecutor());
      }
    }

    void store() throws Exception {
      byte[] record = new byte[(int) (turn / THREADS + 1) * STEP];
      writers.get((int) (turn++ % THREADS)).submit(() -> write(ByteBuffer.wrap(record))).get();
    }

    private Void write(ByteBuffer record) throws IOException {
      file.write(record, 0);
      return null;
    }
  }

  private static final class Version {
    void show() {
      Snappy.getNativeLibraryVersion();
    }
  }

  /**
   * Creates an allocator for each message, takes nine buffers from the allocator, releases the buffers, and drops the
   * allocator.
   */
  private static final class Messages {
    private byte[] message = {};

    void encode() {
      message = new byte[1 << 20];
      AdaptiveByteBufAllocator allocator = new AdaptiveByteBufAllocator();
      List<ByteBuf> parts = new ArrayList<>();
      for (int i = 0; i < 9; i++) {
        parts.add(allocate(allocator).writeBytes(message, 0, 60 * KIB));
      }
      parts.forEach(ByteBuf::release);
    }

    private ByteBuf allocate(AdaptiveByteBufAllocator allocator) {
      return allocator.directBuffer(60 * KIB);
    }
  }

  /**
   * Compresses a document to a stream of the caller, which stays open. Closes the compressor only if {@link #RIGHT} is
   * set.
   */
  private static final class Exports {
    private final byte[] document = letters(256 * KIB);

    void export() throws IOException {
      ZstdOutputStreamNoFinalizer compressor = compress(new ByteArrayOutputStream());
      if (RIGHT) {
        compressor.closeWithoutClosingParentStream();
      }
    }

    private ZstdOutputStreamNoFinalizer compress(ByteArrayOutputStream output) throws IOException {
      ZstdOutputStreamNoFinalizer compressor = new ZstdOutputStreamNoFinalizer(output, 1);
      compressor.write(document);
      compressor.flush();
      return compressor;
    }
  }

  /** Writes batches of 64 KiB to a database, and closes the batches only if {@link #RIGHT} is set. */
  private static final class Uploads {
    private final DB database;
    private final byte[] value = new byte[64 * KIB];

    Uploads(Path directory) throws IOException {
      database = JniDBFactory.factory.open(directory.resolve("uploads").toFile(), new org.iq80.leveldb.Options().createIfMissing(true));
    }

    void store() throws IOException {
      WriteBatch batch = prepare();
      database.write(batch);
      if (RIGHT) {
        batch.close();
      }
    }

    private WriteBatch prepare() {
      WriteBatch batch = database.createWriteBatch();
      batch.put(new byte[] {1}, value);
      return batch;
    }
  }
  /**
   * Renews the TLS context of a QUIC server that asks its clients for certificates. A finalizer
   * frees the old context after the next collection. The garbage of the requests causes
   * collections.
   */
  private static final class Listeners {
    private static final String PASSWORD = "password";

    private byte[][] requests = {};
    private final KeyManagerFactory identity = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    private final TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());

    Listeners(Path directory) throws Exception {
      Path file = directory.resolve("identity.p12");
      String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
      new ProcessBuilder(
              keytool, "-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=localhost", "-storepass", PASSWORD, "-keystore",
              file.toString())
          .inheritIO()
          .start()
          .waitFor();
      identity.init(KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray()), PASSWORD.toCharArray());
      trusted.init((KeyStore) null);
    }

    void renew() {
      requests = new byte[4][256 * KIB];
      create();
    }

    private QuicSslContext create() {
      return QuicSslContextBuilder.forServer(identity, null)
          .trustManager(trusted)
          .clientAuth(ClientAuth.REQUIRE)
          .applicationProtocols("h3")
          .build();
    }
  }

  private static final class Sessions {
    private final SslContext context;

    Sessions() throws Exception {
      context = SslContextBuilder.forClient().sslProvider(SslProvider.OPENSSL_REFCNT).build();
    }

    void open() {
      for (int i = 0; i < 250; i++) {
        ReferenceCountUtil.release(create());
      }
    }

    private SSLEngine create() {
      return context.newEngine(UnpooledByteBufAllocator.DEFAULT);
    }
  }

  private static final class Pages {
    private static final int SIZE = 64 * KIB;

    private final BytesInput page;
    private final CompressionCodecFactory.BytesInputDecompressor decompressor;

    Pages() throws IOException {
      CodecFactory codecs = new CodecFactory(new Configuration(), SIZE);
      page = BytesInput.copy(codecs.getCompressor(CompressionCodecName.ZSTD).compress(BytesInput.from(letters(SIZE))));
      decompressor = codecs.getDecompressor(CompressionCodecName.ZSTD);
    }

    void read() throws IOException {
      if (decompress().toByteArray().length != SIZE) {
        throw new IllegalStateException("the page was not read");
      }
    }

    private BytesInput decompress() throws IOException {
      return decompressor.decompress(page, SIZE);
    }
  }

  /** Encodes a text of 1,280 tokens, which the tokenizer truncates to 128 tokens. */
  private static final class Texts {
    private static final String TOKENIZER =
        """
        {"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
         "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
         "model": {"type": "WordLevel", "vocab": {"unknown": 0, "word": 1}, "unk_token": "unknown"}}
        """;

    private final HuggingFaceTokenizer tokenizer;
    private final String text = "word ".repeat(1_280);

    Texts(Path directory) throws IOException {
      Path file = Files.writeString(directory.resolve("tokenizer.json"), TOKENIZER);
      tokenizer = HuggingFaceTokenizer.newInstance(file, Map.of("truncation", "true", "maxLength", "128"));
    }

    void encode() {
      if (tokenize().getIds().length != 128) {
        throw new IllegalStateException("the text was not truncated");
      }
    }

    private Encoding tokenize() {
      return tokenizer.encode(text);
    }
  }

  private static final class Configurations {
    private final GzipCompressionProvider provider = new GzipCompressionProvider();
    private final byte[] configuration = new byte[4 * KIB];

    void compress() throws Exception {
      provider.compress("/configuration", configuration);
    }
  }

  /** Creates a mapper for each reply, or one for all replies if {@link #RIGHT} is set. */
  private static final class Replies {
    private final Order order = new Order();
    private final ObjectMapper shared = map();

    void write() throws IOException {
      (RIGHT ? shared : map()).writeValueAsString(order);
    }

    private ObjectMapper map() {
      return new ObjectMapper().registerModule(new BlackbirdModule());
    }
  }
}
