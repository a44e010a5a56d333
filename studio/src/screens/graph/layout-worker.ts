// Our own worker build leaves out the unused half of elkjs. This file is still half of the build.
import 'elkjs/lib/elk-worker.min.js';
