import { Session } from 'node:inspector';

/**
 * From a thread that watches the main thread: pauses that one by the debugger protocol, also while it is blocked, and
 * calls `onValue` with the value of an expression of globals, in the async context of the code that executes. Not while it
 * waits for a system call. Dispose it to take the question back; there is no answer then. A process does not exit while the
 * session is open, so that it ends with the answer.
 */
export function evaluateInMainThread(expression: string, onValue: (value: unknown) => void): Disposable {
  const session = new Session();
  let isOpen = true;
  session.connectToMainThread();
  session.on('Debugger.paused', () => {
    // Sent before the session was closed, and delivered after.
    if (!isOpen) return;
    // On top of the paused stack, but not in its first frame: in one of Node's own, globals are not defined.
    session.post('Runtime.evaluate', { expression, returnByValue: true }, (_error, answer) => {
      // A session that is closed answers what is pending with an error, and throws if it is asked again.
      if (!isOpen) return;
      session.post('Debugger.resume', () => session.disconnect());
      onValue(answer?.result?.value);
    });
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  return {
    [Symbol.dispose]() {
      isOpen = false;
      session.disconnect();
    },
  };
}
