/** The vocabulary of memory: blocks that agents keep about people, and their revisions. */

export type {
  ChangedMemory,
  ErasedMemory,
  MemoryBlock,
  MemoryKind,
  MemoryRevision,
  MemoryScope,
  MemorySettings,
  MemoryConversation,
  MemoryWriter,
  NewMemory,
} from './memory-schema.ts'
export {
  changedMemorySchema,
  erasedMemorySchema,
  longestMemory,
  memoryBlockSchema,
  memoryKeyPattern,
  memoryKinds,
  memoryRevisionSchema,
  memoryScopes,
  memorySettingsSchema,
  memoryConversationSchema,
  memoryWriterSchema,
  mostArchivalBlocks,
  newMemorySchema,
} from './memory-schema.ts'
