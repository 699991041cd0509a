/** The harness of the conformance kit of tools, and what each claim gets. */
import type { TestContext } from 'node:test'
import type { AgentInput } from '@witan/protocol'
import type { Caller, Tool, ToolSource } from '../../tool/tool.ts'
import type { Answering, Arguments } from './tool-fixtures.ts'

/** Arguments that a tool accepts, and the first outcome of a call with them. */
export interface ToolCase {
  readonly arguments: Arguments
  readonly comesTo: 'result' | 'failure' | 'interruption' | 'child' | 'transfer'
}

/** The environment of a tool during one test. */
export interface ToolUnderTest {
  readonly source: ToolSource
  /** The effects so far, by idempotency key. A repeated key has no further effect. */
  effects?(): readonly string[]
}

/** A tool and an agent that has it. Its texts must not contain the agent's parameter names by accident. */
export interface ToolHarness {
  readonly name: string
  /** Its name at the agent. */
  readonly tool: string
  /** Each of its parameters takes text: the kit binds it to a hidden value. Give it some that the tool has arguments for. */
  readonly agent: Partial<AgentInput> & { readonly id: string }
  /** Opens the environment of the tool. Clean up in `test.after`. */
  open(test: TestContext): ToolUnderTest | Promise<ToolUnderTest>
  /** Valid arguments, without bound ones. */
  readonly fitting: readonly ToolCase[]
  /** Arguments that it refuses; empty for a tool that accepts all. */
  readonly unfitting: readonly Arguments[]
  /** Answers what it waits for. Default: the default answer of the kit. */
  readonly answering?: Answering
  /** For a running tool that can work long: arguments with which it works until it is stopped. */
  readonly endless?: Arguments
  /** For a tool that saves checkpoints: arguments with which it saves at least one before its last effect. */
  readonly noted?: Arguments
  /** For a tool whose result can be large: arguments with which the result must be cut. */
  readonly oversize?: Arguments
  /** Set for a tool with a gate. */
  readonly gated?: true
}

/** A tool in one claim. */
export interface Subject {
  readonly tool: Tool
  readonly caller: Caller
  readonly harness: ToolHarness
  effects(): readonly string[]
}

/** Adds a claim with a tool of its own. */
export type Register = (name: string, body: (subject: Subject) => void | Promise<void>) => void
