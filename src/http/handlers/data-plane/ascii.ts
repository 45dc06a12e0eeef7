/** The ASCII characters that requests are read by, as bytes. */

/** `"` */
export const quote = 0x22;
/** `,` */
export const comma = 0x2c;
/** `:` */
export const colon = 0x3a;
/** `;` */
export const semicolon = 0x3b;
/** `?` */
export const question = 0x3f;
/** `/` */
export const slash = 0x2f;
/** `.` */
export const dot = 0x2e;
/** `-` */
export const dash = 0x2d;
/** A space. */
export const space = 0x20;
/** `\` */
export const backslash = 0x5c;
/** `[` */
export const openList = 0x5b;
/** `]` */
export const closeList = 0x5d;
/** `{` */
export const openObject = 0x7b;
/** `}` */
export const closeObject = 0x7d;
