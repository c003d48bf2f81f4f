package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.List;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * Batches of RocksDB that are let go without close(), in a heap that is too idle to be collected:
 * RocksDB has no cleaners, so that no collection frees them. Java knows the batch, and that its
 * string. After a collection nobody at all has the address.
 */
public final class Unclosed implements Kernel {

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
      write(key, value);
    }
  }

  @SuppressWarnings("resource")
  private static void write(byte[] key, byte[] value) throws RocksDBException {
    WriteBatch batch = new WriteBatch();
    batch.put(key, value);
  }
}
