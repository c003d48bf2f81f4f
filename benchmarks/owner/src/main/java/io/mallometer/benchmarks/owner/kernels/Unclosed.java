package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.List;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * A table of RocksDB's batches that is replaced by an empty one without closing the batches.
 * RocksDB has no cleaners: only garbage refers to the batches, and nothing will free them. Java
 * refers to the batch, which refers to the characters of its string, 24 bytes into their block.
 *
 * <p>The old table is so large that it was never young. A young collection of G1 finds neither the
 * table nor its content, which stay until the next marking. After that the addresses are nowhere.
 */
public final class Unclosed implements Kernel {

  private static final int SLOTS = 1 << 20;

  private static WriteBatch[] table = new WriteBatch[SLOTS];

  @Override
  public Holding holding() {
    return Holding.UNREACHABLE;
  }

  @Override
  public List<String> words() {
    return List.of("nativeHandle_");
  }

  @Override
  public void plant() throws RocksDBException {
    RocksDB.loadLibrary();
    byte[] key = {1, 2, 3};
    byte[] value = new byte[18_000];
    for (int i = 0; i < 200; i++) {
      WriteBatch batch = new WriteBatch();
      batch.put(key, value);
      table[i] = batch;
    }
    table = new WriteBatch[SLOTS];
  }
}
