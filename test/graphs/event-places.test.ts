import { expect, test } from 'vitest';
import { graphOfTask, ToolTasks } from '../../src/graphs/runtime/event-places.ts';

const TASK = 'inner:1|look:2';

test('an event that has its task as namespace, as before LangGraph 1.7, belongs to the graph of the task', () => {
  expect(graphOfTask(['inner:1', 'look:2'], TASK)).toEqual(['inner:1']);
  expect(graphOfTask(['look:2'], 'look:2')).toEqual([]);
});

test('an event that has a graph as namespace, as from LangGraph 1.7 on, belongs to that graph', () => {
  expect(graphOfTask(['inner:1'], TASK)).toEqual(['inner:1']);
  expect(graphOfTask([], 'look:2')).toEqual([]);
});

test('each call of a tool has its own task, also beside others in a node that holds a graph', () => {
  const tasks = new ToolTasks();
  const started = (id: string, langgraph_checkpoint_ns: string) =>
    tasks.handleToolStart({}, '', 'run', undefined, [], { langgraph_checkpoint_ns }, 'search', id);
  started('within', TASK);
  started('beside', 'inner:1');
  expect(tasks.graphOf(['inner:1', 'look:2'], { toolCallId: 'within' })).toEqual(['inner:1']);
  expect(tasks.graphOf(['inner:1'], { toolCallId: 'within' })).toEqual(['inner:1']);
  expect(tasks.graphOf(['inner:1'], { toolCallId: 'beside' })).toEqual([]);
  expect(tasks.graphOf([], { toolCallId: 'beside' })).toEqual([]);
});
