import java.nio.file.Path;
import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.FSDirectory;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksIterator;

/**
 * Fills a store with random records of 1 KiB, reads them all, and keeps the store open until
 * standard input ends.
 */
public final class Stores {

  private static final int RECORD = 1024;

  private Stores() {}

  /** Arguments: lucene or rocksdb, the directory of the store, and the number of records. */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[1]);
    int records = Integer.parseInt(arguments[2]);
    if (arguments[0].equals("lucene")) {
      lucene(directory, records);
    } else {
      rocksDb(directory, records);
    }
  }

  private static void lucene(Path path, int records) throws Exception {
    Random random = new Random(1);
    try (FSDirectory directory = FSDirectory.open(path);
        IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(new StandardAnalyzer()))) {
      for (int i = 0; i < records; i++) {
        Document document = new Document();
        document.add(new TextField("words", "record " + i + " of " + random.nextInt(1000), Field.Store.NO));
        document.add(new StoredField("body", record(random)));
        writer.addDocument(document);
      }
      writer.commit();
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        for (int i = 0; i < reader.maxDoc(); i++) {
          reader.storedFields().document(i);
        }
        filled();
      }
    }
  }

  private static void rocksDb(Path path, int records) throws Exception {
    Random random = new Random(1);
    try (Options options = new Options().setCreateIfMissing(true).setCompressionType(CompressionType.NO_COMPRESSION);
        RocksDB database = RocksDB.open(options, path.toString());
        FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      for (int i = 0; i < records; i++) {
        database.put(Integer.toString(random.nextInt()).getBytes(), record(random));
      }
      database.flush(flush);
      try (RocksIterator all = database.newIterator()) {
        for (all.seekToFirst(); all.isValid(); all.next()) {
          all.value();
        }
      }
      filled();
    }
  }

  private static byte[] record(Random random) {
    byte[] bytes = new byte[RECORD];
    random.nextBytes(bytes);
    return bytes;
  }

  private static void filled() throws Exception {
    System.out.println("filled");
    System.in.read();
  }
}
