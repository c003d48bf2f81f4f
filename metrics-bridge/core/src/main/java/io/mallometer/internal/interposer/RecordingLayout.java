package io.mallometer.internal.interposer;

import io.mallometer.model.Recording;
import java.nio.ByteBuffer;

/**
 * {@code struct mallometer_black_box} of ABI version {@value Availability#ABI_VERSION}, by byte
 * offset. The header orders fields so that there is no padding; a test compares these offsets with
 * a C compiler's.
 */
final class RecordingLayout {

  static final int SIZE = 0;
  static final int STATE = 8;
  static final int LIFE = 16;
  static final int PATH = 24;
  static final int PATH_BYTES = 1024;
  static final int REASON = PATH + PATH_BYTES;
  static final int REASON_BYTES = 256;
  static final int BYTES = REASON + REASON_BYTES;

  static final int STATE_OFF = 0;
  static final int STATE_ON = 1;

  private RecordingLayout() {}

  static Recording recording(ByteBuffer struct) {
    String path = ReportLayout.text(struct, PATH, PATH_BYTES);
    return switch (struct.getInt(STATE)) {
      case STATE_OFF -> Recording.off();
      case STATE_ON -> new Recording(Recording.State.ON, path, struct.getLong(LIFE), "");
      default -> Recording.failed(path, ReportLayout.text(struct, REASON, REASON_BYTES));
    };
  }
}
