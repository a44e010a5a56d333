import { createServer } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Loaded into a server by `node --import`: reports its longest pause since the last question. */
const path = process.env['PAUSE_PROBE'];
if (path !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  let longest_us = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    const now = process.threadCpuUsage();
    longest_us = Math.max(longest_us, now.user - last.user + now.system - last.system);
    last = now;
  };
  setInterval(look, 1).unref();
  const server = createServer((socket) => {
    look();
    socket.end(JSON.stringify({ delay_ms: delays.max / 1e6, cpu_ms: longest_us / 1e3 }));
    delays.reset();
    longest_us = 0;
  });
  // Processes that the server starts load it too; the first one has the socket.
  server.on('error', () => {});
  server.listen(path).unref();
}
