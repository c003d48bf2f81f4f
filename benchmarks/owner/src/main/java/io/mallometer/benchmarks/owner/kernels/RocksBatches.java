package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** Batches of RocksDB that are never closed: handles to C++ objects with the data in a string. */
public final class RocksBatches implements Kernel {

  private static final Queue<WriteBatch> PENDING = new ArrayDeque<>();

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("WriteBatch.nativeHandle_", "static RocksBatches.PENDING");
  }

  @Override
  public void plant() throws RocksDBException {
    RocksDB.loadLibrary();
    for (int i = 0; i < 150; i++) {
      WriteBatch batch = new WriteBatch();
      batch.put(new byte[] {(byte) i}, new byte[20_000]);
      PENDING.add(batch);
    }
  }
}
