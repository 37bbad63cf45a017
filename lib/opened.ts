/**
 * What was opened, closed in reverse. One that fails (a full disk, say) keeps no other from closing; the first
 * failure is the answer.
 */
export class Opened {
  private readonly closers: (() => unknown)[] = [];
  private closing: Promise<void> | undefined;

  add(close: () => unknown): void {
    this.closers.push(close);
  }

  close(): Promise<void> {
    return (this.closing ??= this.closeAll());
  }

  private async closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
