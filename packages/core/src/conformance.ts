/**
 * The conformance kits: tests that every implementation of a contract must pass. Each kit registers its tests with
 * `node:test`.
 */

// stores
export type { StoreHarness } from './testing/conformance/store.ts'
export { testStore } from './testing/conformance/store.ts'

// models
export type { Asked, ModelHarness, ModelUnderTest, Play } from './testing/conformance/model.ts'
export { testModel } from './testing/conformance/model.ts'

// sources of queries
export type { SourceHarness, SourceLimits } from './testing/conformance/source.ts'
export { testSource } from './testing/conformance/source.ts'

// tools
export type { Arguments, Claim } from './testing/conformance/tool-fixtures.ts'
export type { ToolCase, ToolHarness, ToolUnderTest } from './testing/conformance/tool-harness.ts'
export { testTool, toolClaims } from './testing/conformance/tool.ts'

// edges
export type { EdgeHarness, WantedEdge } from './testing/conformance/edge.ts'
export { edgeClaims, testEdge } from './testing/conformance/edge.ts'
