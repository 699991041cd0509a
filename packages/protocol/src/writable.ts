/** A value while it is made field by field. Set so, a field that is absent costs nothing; spread, it costs an object. */
export type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] }
