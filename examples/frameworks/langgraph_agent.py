"""A graph of LangGraph behind the Python SDK of A2A. It stops by `interrupt` for a person, and goes on with the answer."""
import sys
from typing import TypedDict

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from starlette.applications import Starlette

port = int(sys.argv[1]) if len(sys.argv) > 1 else 9003


class State(TypedDict, total=False):
    request: str
    amount: str
    answer: str


def confirm(state: State) -> State:
    return {"amount": interrupt("How many pages?")}


def write(state: State) -> State:
    return {"answer": f"A report of {state['amount']} pages about {state['request']}."}


builder = StateGraph(State)
builder.add_node("confirm", confirm)
builder.add_node("write", write)
builder.add_edge(START, "confirm")
builder.add_edge("confirm", "write")
builder.add_edge("write", END)
graph = builder.compile(checkpointer=InMemorySaver())


class Graph(AgentExecutor):
    """One thread of the graph for each task."""

    async def execute(self, context, event_queue):
        said = context.get_user_input()
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
            given = {"request": said}
        else:
            given = Command(resume=said)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        state = await graph.ainvoke(given, {"configurable": {"thread_id": context.task_id}})
        if "__interrupt__" in state:
            asked = new_text_message(state["__interrupt__"][0].value, context.context_id, context.task_id)
            await updater.requires_input(asked)
            return
        await updater.add_artifact([new_text_part(state["answer"])], artifact_id="answer")
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


card = AgentCard(
    name="Reports",
    description="Writes reports.",
    version="1",
    supported_interfaces=[
        AgentInterface(url=f"http://127.0.0.1:{port}", protocol_binding="JSONRPC", protocol_version="1.0")
    ],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="report", name="Report", description="Writes a report.", tags=["reports"])],
)
handler = DefaultRequestHandler(agent_executor=Graph(), task_store=InMemoryTaskStore(), agent_card=card)
routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, rpc_url="/")]
uvicorn.run(Starlette(routes=routes), port=port, log_level="warning")
