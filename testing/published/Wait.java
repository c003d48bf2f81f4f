/** Runs until it is ended, for a minute at most. */
class Wait {
  public static void main(String[] arguments) throws InterruptedException {
    Thread.sleep(60_000);
  }
}
