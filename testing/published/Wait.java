/** Runs until it is killed, for a minute at most. */
class Wait {
  public static void main(String[] arguments) throws InterruptedException {
    Thread.sleep(60_000);
  }
}
