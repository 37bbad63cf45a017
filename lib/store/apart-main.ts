import { isMainThread, workerData } from 'node:worker_threads';
import { serve, type ThreadData } from './thread-main.js';
import { verifyAndPrint } from './verify-child.js';

/** What the store runs beside a gateway: as a program it verifies a closed store, as a thread it serves an open one. */
if (isMainThread) await verifyAndPrint(process.argv[2]!);
else await serve(workerData as ThreadData);
