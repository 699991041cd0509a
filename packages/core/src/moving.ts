/** Moving a store to another one: everything as lines, and lines into a store. The second entry of the library. */
export type { MovingItem, Standing } from './store/moving.ts'
export { exportStore, importItem, readMoving, standingOf, takenError } from './store/moving.ts'
export type { MovingLine } from './store/moving-lines.ts'
export { movingText } from './store/moving-lines.ts'
