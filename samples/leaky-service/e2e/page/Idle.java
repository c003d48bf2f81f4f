/** A program without Spring that waits until it is killed. */
class Idle {
  public static void main(String[] arguments) throws InterruptedException {
    System.out.println("Started Idle in 0 seconds");
    Thread.currentThread().join();
  }
}
