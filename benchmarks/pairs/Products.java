import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.windowing.assigners.TumblingProcessingTimeWindows;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.MMapDirectory;
import org.apache.spark.sql.SparkSession;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/**
 * Whole products under a steady load that leaks nothing. Usage: {@code Products NAME DIRECTORY
 * ROW}. Repeats the work of a product at a fixed rate, for 90 minutes or until the process is
 * ended. Every repetition adds 1 to the counter {@code ROW} of {@link Situation.Planted}.
 */
public final class Products {
  private static final int KIB = 1 << 10;
  private static final Duration LONGEST = Duration.ofMinutes(90);
  private static final long BEGAN = System.nanoTime();

  private static String row;

  private Products() {}

  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createDirectories(Path.of(arguments[1]));
    row = arguments[2];
    switch (arguments[0]) {
      case "Kafka" -> every(10, new Broker(directory)::pass);
      case "Flink" -> new Stream().start();
      case "Lucene" -> new Index(directory).start();
      case "Spark" -> every(3_000, new Job(directory)::sum);
      case "Jetty" -> every(10, new Client(JettyServer.start())::get);
      case "Tomcat" -> every(10, new Client(TomcatServer.start(directory))::get);
      case "H2" -> every(20, new Accounts(directory)::transfer);
      case "DuckDB" -> every(100, new Sales(directory)::sum);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
    System.exit(0);
  }

  interface Step {
    void run() throws Exception;
  }

  private static void every(long milliseconds, Step step) throws Exception {
    long next = System.nanoTime();
    while (System.nanoTime() - BEGAN < LONGEST.toNanos()) {
      step.run();
      Situation.Planted.add(row, 1);
      next = Math.max(next + milliseconds * 1_000_000, System.nanoTime());
      Thread.sleep(Math.max(0, (next - System.nanoTime()) / 1_000_000));
    }
  }

  private static void beside(String name, Step step) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (true) {
                  step.run();
                }
              } catch (Exception e) {
                e.printStackTrace();
                System.exit(1);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /**
   * A Kafka broker and its controller, with a producer and a consumer. The broker keeps about 64
   * MiB of records.
   */
  private static final class Broker {
    private static final String TOPIC = "orders";

    private final KafkaProducer<byte[], byte[]> producer;
    private final byte[] order = new byte[KIB];
    private final Random random = new Random(1);
    private final LongAdder received = new LongAdder();
    private Future<?> latest;
    private long sent;

    Broker(Path directory) throws Exception {
      int port = freePort();
      int controller = freePort();
      Path properties =
          Files.writeString(
              directory.resolve("server.properties"),
              """
              process.roles=broker,controller
              node.id=1
              controller.quorum.voters=1@127.0.0.1:%d
              listeners=PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d
              controller.listener.names=CONTROLLER
              offsets.topic.replication.factor=1
              offsets.topic.num.partitions=4
              log.dirs=%s
              log.segment.bytes=16777216
              log.retention.bytes=67108864
              log.retention.check.interval.ms=30000
              """
                  .formatted(controller, port, controller, directory.resolve("logs")));
      if (kafka.tools.StorageTool.execute(
              new String[] {"format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", properties.toString()}, System.out)
          != 0) {
        throw new IllegalStateException("the storage was not formatted");
      }
      beside("broker", () -> kafka.Kafka.main(new String[] {properties.toString()}));
      Map<String, Object> common = Map.of("bootstrap.servers", "127.0.0.1:" + port, "group.id", "readers", "auto.offset.reset", "earliest");
      producer = new KafkaProducer<>(common, new ByteArraySerializer(), new ByteArraySerializer());
      KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(common, new ByteArrayDeserializer(), new ByteArrayDeserializer());
      consumer.subscribe(List.of(TOPIC));
      latest = producer.send(new ProducerRecord<>(TOPIC, order));
      latest.get();
      beside("consumer", () -> received.add(consumer.poll(Duration.ofSeconds(1)).count()));
    }

    void pass() throws Exception {
      random.nextBytes(order);
      latest.get();
      latest = producer.send(new ProducerRecord<>(TOPIC, order.clone()));
      if (++sent > 10_000 && received.sum() == 0) {
        throw new IllegalStateException("the consumer received nothing");
      }
    }
  }

  /**
   * A Flink cluster of one process. A job sums numbers by key in windows of five seconds, with a checkpoint every ten
   * seconds.
   */
  private static final class Stream {
    void start() throws Exception {
      StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(2);
      environment.enableCheckpointing(10_000);
      DataGeneratorSource<Long> numbers = new DataGeneratorSource<>(number -> number, Long.MAX_VALUE, RateLimiterStrategy.perSecond(500), Types.LONG);
      environment
          .fromSource(numbers, WatermarkStrategy.noWatermarks(), "numbers")
          .keyBy(number -> number % 1_000)
          .window(TumblingProcessingTimeWindows.of(Duration.ofSeconds(5)))
          .reduce(Long::sum)
          .map(Stream::count)
          .sinkTo(new DiscardingSink<>());
      JobClient job = environment.executeAsync();
      every(5_000, () -> check(job.getJobStatus().get()));
    }

    private static void check(JobStatus status) {
      if (status.isTerminalState() || status == JobStatus.RESTARTING) {
        throw new IllegalStateException("the job is " + status);
      }
    }

    private static long count(long sum) {
      Situation.Planted.add(row, 1);
      return sum;
    }
  }

  /**
   * A Lucene index of 20,000 documents. Each step replaces a random document, and searches and
   * sorts the documents.
   */
  private static final class Index {
    private static final int NUMBER = 20_000;

    private final IndexWriter writer;
    private final SearcherManager searchers;
    private final Random random = new Random(1);

    Index(Path directory) throws IOException {
      writer = new IndexWriter(new MMapDirectory(directory), new IndexWriterConfig().setRAMBufferSizeMB(4));
      for (int i = 0; i < NUMBER; i++) {
        replace(i);
      }
      writer.commit();
      searchers = new SearcherManager(writer, null);
    }

    void start() throws Exception {
      beside("commits", this::commit);
      every(20, this::search);
    }

    private void commit() throws Exception {
      Thread.sleep(5_000);
      writer.commit();
      searchers.maybeRefreshBlocking();
    }

    private void replace(int number) throws IOException {
      Document document = new Document();
      document.add(new StringField("id", Integer.toString(number), Field.Store.YES));
      document.add(new StringField("group", Integer.toString(number % 100), Field.Store.NO));
      document.add(new NumericDocValuesField("readers", random.nextInt()));
      writer.updateDocument(new Term("id", Integer.toString(number)), document);
    }

    private void search() throws IOException {
      replace(random.nextInt(NUMBER));
      IndexSearcher searcher = searchers.acquire();
      try {
        Sort byReaders = new Sort(new SortField("readers", SortField.Type.INT));
        searcher.search(new TermQuery(new Term("group", Integer.toString(random.nextInt(100)))), 10, byReaders);
        searcher.search(new MatchAllDocsQuery(), 10);
      } finally {
        searchers.release(searcher);
      }
    }
  }

  private static final class Job {
    private final SparkSession session;

    Job(Path directory) {
      session =
          SparkSession.builder()
              .master("local[2]")
              .config("spark.ui.enabled", "false")
              .config("spark.driver.bindAddress", "127.0.0.1")
              .config("spark.driver.host", "127.0.0.1")
              .config("spark.sql.shuffle.partitions", "4")
              .config("spark.local.dir", directory.toString())
              .config("spark.sql.warehouse.dir", directory.resolve("warehouse").toString())
              .getOrCreate();
      session.sparkContext().setLogLevel("WARN");
    }

    void sum() {
      if (session.range(200_000).selectExpr("id % 100 as key", "id").groupBy("key").sum("id").collectAsList().size() != 100) {
        throw new IllegalStateException("a group is missing");
      }
    }
  }

  private static final class Client {
    private final HttpClient client = HttpClient.newHttpClient();
    private final HttpRequest request;

    Client(int port) {
      request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/page")).build();
    }

    void get() throws Exception {
      HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
      if (response.statusCode() != 200 || response.body().length != 16 * KIB) {
        throw new IllegalStateException("the answer was " + response);
      }
    }
  }

  private static final class JettyServer {
    private JettyServer() {}

    /** Starts a server with one page and returns its port. */
    static int start() throws Exception {
      Server server = new Server();
      ServerConnector connector = new ServerConnector(server);
      connector.setHost("127.0.0.1");
      server.addConnector(connector);
      server.setHandler(
          new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
              response.write(true, ByteBuffer.wrap(new byte[16 * KIB]), callback);
              return true;
            }
          });
      server.start();
      return connector.getLocalPort();
    }
  }

  private static final class TomcatServer {
    private TomcatServer() {}

    /** Starts a server with one page and returns its port. */
    static int start(Path directory) throws Exception {
      Tomcat tomcat = new Tomcat();
      tomcat.setBaseDir(directory.toString());
      tomcat.setPort(0);
      tomcat.getConnector().setProperty("address", "127.0.0.1");
      Context context = tomcat.addContext("", directory.toString());
      Tomcat.addServlet(
          context,
          "page",
          new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
              response.getOutputStream().write(new byte[16 * KIB]);
            }
          });
      context.addServletMappingDecoded("/page", "page");
      tomcat.start();
      return tomcat.getConnector().getLocalPort();
    }
  }

  /**
   * A database of 10,000 accounts. Each transaction moves an amount, adds a note, and deletes an
   * old note, so that 10,000 notes remain.
   */
  private static final class Accounts {
    private static final int NUMBER = 10_000;

    private final Connection connection;
    private final Random random = new Random(1);
    private long transfers;

    Accounts(Path directory) throws SQLException {
      connection = DriverManager.getConnection("jdbc:h2:file:" + directory.toAbsolutePath().resolve("accounts"));
      try (Statement statement = connection.createStatement()) {
        statement.execute("create table account (id int primary key, amount int) as select x, 100 from system_range(1, " + NUMBER + ")");
        statement.execute("create table note (id bigint primary key, text varchar)");
      }
      connection.setAutoCommit(false);
    }

    void transfer() throws SQLException {
      update("update account set amount = amount - 1 where id = ?", random.nextInt(NUMBER) + 1);
      update("update account set amount = amount + 1 where id = ?", random.nextInt(NUMBER) + 1);
      update("insert into note values (?, repeat('note ', 20))", ++transfers);
      update("delete from note where id = ?", transfers - NUMBER);
      connection.commit();
    }

    private void update(String sql, long id) throws SQLException {
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        statement.setLong(1, id);
        statement.execute();
      }
    }
  }

  /** A database of a million sales, which are summed by customer. Each result and each statement is closed. */
  private static final class Sales {
    private final Connection connection;

    Sales(Path directory) throws SQLException {
      connection = DriverManager.getConnection("jdbc:duckdb:" + directory.resolve("sales.db"));
      try (Statement statement = connection.createStatement()) {
        statement.execute("set memory_limit = '256MB'");
        statement.execute("set threads = 2");
        statement.execute("create table sale as select range % 1000 as customer, range as amount from range(1000000)");
      }
    }

    void sum() throws SQLException {
      int customers = 0;
      try (PreparedStatement statement = connection.prepareStatement("select customer, sum(amount) from sale group by customer");
          ResultSet sums = statement.executeQuery()) {
        while (sums.next()) {
          customers++;
        }
      }
      if (customers != 1_000) {
        throw new IllegalStateException("a customer is missing");
      }
    }
  }
}
