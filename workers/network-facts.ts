/** Entry of the thread that reads the files of `--ip-database`: one table or one fault, then it ends. No logic of its own. */
import { parentPort, workerData } from "node:worker_threads";
import { type NetworkThreadData, type NetworkThreadReport, readNetworkFiles } from "../src/network/network-files.js";

function report(): NetworkThreadReport {
  try {
    return { facts: readNetworkFiles((workerData as NetworkThreadData).files) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

parentPort!.postMessage(report());
