package io.mallometer.samples.leaky;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Stores the latest reports in an SQLite database in memory and searches them.
 *
 * <p>The leak: some statements are not closed. The driver refers to every open statement, so the
 * garbage collector cannot free them.
 */
final class ReportIndex implements AutoCloseable {
  /** The native memory of a prepared statement, measured with SQLite 3.54. */
  static final long STATEMENT_BYTES = 79_600;

  private static final int KEPT_REPORTS = 500;

  /** The number of searches after each new report. */
  static final int SEARCHES = 4;

  private final LeakSwitch leak;
  private final Connection connection;

  ReportIndex(LeakSwitch leak) {
    this.leak = leak;
    try {
      connection = DriverManager.getConnection("jdbc:sqlite::memory:");
      execute("create table report (number integer primary key, customer text, length integer)");
      execute("create index report_by_customer on report (customer)");
    } catch (SQLException noDatabase) {
      throw new IllegalStateException(noDatabase);
    }
  }

  /** Stores the report and deletes the oldest beyond {@value #KEPT_REPORTS}. */
  synchronized void add(Report report) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "insert into report (number, customer, length) values (?, ?, ?)")) {
      insert.setLong(1, report.number());
      insert.setString(2, report.customer());
      insert.setInt(3, report.text().length());
      insert.executeUpdate();
    }
    execute("delete from report where number <= " + (report.number() - KEPT_REPORTS));
  }

  /**
   * Counts the customer's reports among the latest {@value #KEPT_REPORTS} reports, of which report
   * {@code number} is the newest.
   */
  synchronized long countLatest(String customer, long number) throws SQLException {
    PreparedStatement search = connection.prepareStatement(searchAmongLatest(number));
    search.setString(1, customer);
    try (ResultSet found = search.executeQuery()) {
      return found.getLong(1);
    } finally {
      if (!leak.forgets(STATEMENT_BYTES)) {
        search.close();
      }
    }
  }

  @Override
  public synchronized void close() throws SQLException {
    connection.close();
  }

  /**
   * Returns a search that lists every number, as a query builder would write it. SQLite compiles a
   * step for each number, so the statement takes much memory.
   */
  private static String searchAmongLatest(long number) {
    return LongStream.rangeClosed(Math.max(1, number - KEPT_REPORTS + 1), number)
        .mapToObj(Long::toString)
        .collect(
            Collectors.joining(
                ",", "select count(*) from report where customer = ? and number in (", ")"));
  }

  private void execute(String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.execute();
    }
  }
}
