/** The vocabulary of protocols between agents. */

export type {
  Protocol,
  ProtocolInput,
  ProtocolMessage,
  ProtocolOrder,
  ProtocolRole,
  StoredProtocol,
} from './peer-protocol.ts'
export type { ProtocolUse } from './agent.ts'
