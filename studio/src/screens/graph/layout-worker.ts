// A worker of our own has what elkjs ships minified with what nothing uses left out. Half of the build is this file.
import 'elkjs/lib/elk-worker.min.js';
