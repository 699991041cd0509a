/** Who is asking: the one value that no model may see or make up. */

/** Comes from whoever starts the conversation, is bound into queries, and stands in no prompt and no tool schema. */
export const userId = {
  name: 'userId',
  type: 'string',
  description: 'The employee who is signed in, such as employees/3.',
  sendToModel: false,
  policy: 'forbidModelGeneration',
} as const
