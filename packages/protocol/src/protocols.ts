/** The vocabulary of protocols between agents, and of what agents say to each other. */

export type {
  Exchange,
  Protocol,
  ProtocolInput,
  ProtocolMessage,
  ProtocolOrder,
  ProtocolRole,
  StoredProtocol,
} from './peer-protocol.ts'
export type { Acquaintance, HotSpot, ProtocolUse } from './check-report.ts'
export type { Arrow, Diagram, DiagramFold, Participant } from './diagram.ts'
export { createDiagram, diagramMermaid, diagramText } from './diagram.ts'
