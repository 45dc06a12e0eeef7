/** What writer and reader of packed points have in common, as numbers alone: the SDK's bundle takes them in and nothing else. */

/** The code of the digit 0. */
export const firstCode = 0x23;
/** The code that no digit has: the backslash, which JSON writes twice. */
export const skippedCode = 0x5c;
/** Twice as many digits there are: those of the upper half go on. */
export const base = 45;
/** One digit says how a row's two ways differ from those of the row before, where both do by so much at most. */
export const wayMost = 4;
/** The digit that says that they do not: one more than all of those. */
export const wayDigit = (2 * wayMost + 1) ** 2;
/** Of a stretch of movement. */
export const packedRowsMax = 512;
