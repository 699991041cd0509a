/** Readers of files for knowledge bases, which run in a process of their own. */
export type { ReaderModule, ReadersOptions } from './readers.ts'
export { createReaders } from './readers.ts'
export { UnreadableError } from './reading.ts'
