package io.mallometer.benchmarks.owner.kernels;

import io.mallometer.benchmarks.owner.Kernel;
import io.mallometer.model.OwnerReport.Holding;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Connections of SQLite that are never closed. Their page caches have most of the memory. */
public final class SqliteConnections implements Kernel {

  private static final List<Connection> OPEN = new ArrayList<>();

  @Override
  public Holding holding() {
    return Holding.KEPT;
  }

  @Override
  public List<String> words() {
    return List.of("static SqliteConnections.OPEN");
  }

  @Override
  public void plant() throws SQLException {
    for (int i = 0; i < 100; i++) {
      Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
      try (Statement statement = connection.createStatement()) {
        statement.execute("create table t(x)");
      }
      OPEN.add(connection);
    }
  }
}
