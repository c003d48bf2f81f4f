package io.mallometer.internal.diagnosis;

import com.fasterxml.jackson.databind.JsonNode;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Estimate;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.PageCache;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads each {@link DiagnosisInput} that the class {@code Inputs} in {@code
 * benchmarks/diagnosis/Situation.java} recorded in a real process. A Java record is a JSON object
 * with a member for each component.
 */
final class RecordedInput {

  private RecordedInput() {}

  /** Reads an input. The options are the default ones, and there is no previous run. */
  static DiagnosisInput of(JsonNode json) throws ReflectiveOperationException {
    JsonNode row = json.path("firstRow");
    DiagnosisInput read = (DiagnosisInput) value(json, DiagnosisInput.class);
    return new DiagnosisInput(
        read.snapshot(),
        read.history(),
        read.readings(),
        read.sites(),
        read.leaks(),
        MallometerOptions.defaults(),
        new DiagnosisInput.Run(
            read.run().started(), read.run().startedUp(), Optional.empty(), Optional.empty()),
        row.isTextual() ? Situation.naming(row.asText()) : read.latest());
  }

  private static Object value(JsonNode json, Type type) throws ReflectiveOperationException {
    if (type instanceof ParameterizedType parameterized) {
      return container(json, parameterized);
    }
    Class<?> kind = (Class<?>) type;
    if (kind == MallometerOptions.class) {
      return MallometerOptions.defaults();
    }
    if (kind == Diagnosis.class) {
      return Diagnosis.none(Instant.EPOCH);
    }
    if (kind == double.class || kind == Double.class) {
      return json.isNumber() ? json.asDouble() : Double.NaN;
    }
    if (kind == long.class || kind == Long.class) {
      return json.asLong();
    }
    if (kind == int.class || kind == Integer.class) {
      return json.asInt();
    }
    if (kind == boolean.class || kind == Boolean.class) {
      return json.asBoolean();
    }
    if (kind == Estimate.class && json.isMissingNode()) {
      return Estimate.UNKNOWN;
    }
    if (json.isNull() || json.isMissingNode()) {
      return kind == String.class ? "" : null;
    }
    if (kind == AccountReading.PagesOfFiles.class && !json.path("largest").isObject()) {
      return onlyFiles(json);
    }
    if (kind == Instant.class) {
      return Instant.parse(json.asText());
    }
    if (kind == Duration.class) {
      return Duration.parse(json.asText());
    }
    if (kind.isEnum()) {
      return constant(json.asText(), kind);
    }
    if (kind.isRecord()) {
      return record(json, kind);
    }
    // Values of other types are not needed, because no rule of the diagnosis reads them.
    return kind == String.class ? json.asText() : null;
  }

  private static AccountReading.PagesOfFiles onlyFiles(JsonNode json) {
    Map<String, Long> files = new LinkedHashMap<>();
    json.properties().forEach(file -> files.put(file.getKey(), file.getValue().asLong()));
    return AccountReading.files(files, PageCache.NONE);
  }

  private static Object container(JsonNode json, ParameterizedType type)
      throws ReflectiveOperationException {
    Type[] of = type.getActualTypeArguments();
    if (type.getRawType() == Optional.class) {
      return json.isNull() || json.isMissingNode()
          ? Optional.empty()
          : Optional.of(value(json, of[0]));
    }
    if (type.getRawType() == Map.class) {
      Map<Object, Object> map = new LinkedHashMap<>();
      for (Map.Entry<String, JsonNode> entry : json.properties()) {
        Object key =
            of[0] instanceof Class<?> kind && kind.isEnum()
                ? constant(entry.getKey(), kind)
                : entry.getKey();
        map.put(key, value(entry.getValue(), of[1]));
      }
      return map;
    }
    List<Object> list = new ArrayList<>();
    for (JsonNode element : json) {
      list.add(value(element, of[0]));
    }
    return type.getRawType() == Set.class ? new HashSet<>(list) : list;
  }

  private static Object constant(String name, Class<?> kind) {
    for (Object constant : kind.getEnumConstants()) {
      if (((Enum<?>) constant).name().equals(name)) {
        return constant;
      }
    }
    throw new IllegalArgumentException(name);
  }

  private static Object record(JsonNode json, Class<?> kind) throws ReflectiveOperationException {
    RecordComponent[] components = kind.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    Object[] values = new Object[components.length];
    for (int i = 0; i < components.length; i++) {
      types[i] = components[i].getType();
      // The file stores the components of {@code Run} directly in the object of the input.
      JsonNode part =
          types[i] == DiagnosisInput.Run.class ? json : json.path(components[i].getName());
      values[i] = value(part, components[i].getGenericType());
    }
    Constructor<?> constructor = kind.getDeclaredConstructor(types);
    constructor.setAccessible(true);
    return constructor.newInstance(values);
  }
}
