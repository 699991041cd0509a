/** Moves a store into another one: exports everything as lines, and imports lines. The library's second entry point. */
export type { ExportItem, Standing } from './store/export.ts'
export { exportStore, importItem, readExport, standingOf, takenError } from './store/export.ts'
export type { MovingLine } from './store/export-lines.ts'
export { exportText } from './store/export-lines.ts'
export type { Difference, ReplayOptions, ReplayReport, ReplaySource } from './runtime/replay/replay.ts'
export { replay } from './runtime/replay/replay.ts'
export { readReplaySource } from './runtime/replay/prepare.ts'
export { storeReplay } from './runtime/replay/keep.ts'
