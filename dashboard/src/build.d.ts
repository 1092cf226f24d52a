/** Values that the build puts in. */

/** The version of the OpenAPI document. */
declare const __API_VERSION__: string;
