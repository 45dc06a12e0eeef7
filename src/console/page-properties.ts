/** What pages get from the frame around them. */
import type { Api } from "./api.js";

/** What every page of a project gets. */
export interface ProjectPageProperties {
  readonly api: Api;
  readonly project: number;
}

/** What a page gets that keeps in its address what it shows. */
export interface AddressedPageProperties extends ProjectPageProperties {
  /** As the address has it now. */
  readonly query: URLSearchParams;
}
