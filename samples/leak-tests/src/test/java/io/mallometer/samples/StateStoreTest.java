package io.mallometer.samples;

import io.mallometer.junit.ExpectNoNativeGrowth;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Uses a state store of Kafka Streams, which is a database of RocksDB. */
class StateStoreTest {

  @TempDir java.nio.file.Path directory;

  private TopologyTestDriver driver;
  private KeyValueStore<String, Long> counts;

  @Tag("leak")
  @Test
  @ExpectNoNativeGrowth
  void iteratorIsNotClosed() {
    counts.all().hasNext();
  }

  @Test
  @ExpectNoNativeGrowth
  void iteratorIsClosed() {
    try (KeyValueIterator<String, Long> all = counts.all()) {
      all.hasNext();
    }
  }

  private static final class Count extends ContextualProcessor<String, Long, Void, Void> {
    @Override
    public void process(Record<String, Long> record) {
      // The test sends no records.
    }
  }

  @BeforeEach
  void start() {
    Topology topology = new Topology();
    topology.addSource("source", "topic");
    topology.addProcessor("count", Count::new, "source");
    topology.addStateStore(
        Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore("counts"), Serdes.String(), Serdes.Long())
            .withLoggingDisabled(),
        "count");
    Properties settings = new Properties();
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "sample");
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    settings.put(StreamsConfig.STATE_DIR_CONFIG, directory.toString());
    settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class.getName());
    settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.LongSerde.class.getName());
    driver = new TopologyTestDriver(topology, settings);
    counts = driver.getKeyValueStore("counts");
    for (int i = 0; i < 100; i++) {
      counts.put("key " + i, (long) i);
    }
  }

  @AfterEach
  void end() {
    driver.close();
  }
}
