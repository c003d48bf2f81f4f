package io.mallometer.jmh;

import java.util.Collection;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.Aggregator;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.util.ListStatistics;
import org.openjdk.jmh.util.Statistics;

/**
 * The bytes that an operation allocates. Below its results, JMH prints the call sites that allocate
 * most. The call sites are not a separate result, because JMH's files would show such a result with
 * the score NaN.
 */
final class BytesBySite extends Result<BytesBySite> {

  private static final long serialVersionUID = 1L;

  private final String sites;

  BytesBySite(String label, double bytes, String unit, String sites) {
    this(label, statistics(bytes), unit, sites);
  }

  private BytesBySite(String label, Statistics statistics, String unit, String sites) {
    super(ResultRole.SECONDARY, label, statistics, unit, AggregationPolicy.AVG);
    this.sites = sites;
  }

  private static Statistics statistics(double value) {
    ListStatistics statistics = new ListStatistics();
    statistics.addValue(value);
    return statistics;
  }

  @Override
  public String extendedInfo() {
    return super.extendedInfo() + sites;
  }

  @Override
  protected Aggregator<BytesBySite> getThreadAggregator() {
    return BytesBySite::aggregated;
  }

  @Override
  protected Aggregator<BytesBySite> getIterationAggregator() {
    return BytesBySite::aggregated;
  }

  private static BytesBySite aggregated(Collection<BytesBySite> results) {
    ListStatistics statistics = new ListStatistics();
    StringBuilder sites = new StringBuilder();
    for (BytesBySite result : results) {
      statistics.addValue(result.getScore());
      sites.append(result.sites);
    }
    BytesBySite any = results.iterator().next();
    return new BytesBySite(any.getLabel(), statistics, any.getScoreUnit(), sites.toString());
  }
}
