/** Feedback on an answer: good or bad, which is stored at once, and then a comment. */
import { useMutation } from "@tanstack/react-query";
import { ThumbsDown, ThumbsUp } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client";
import { Button, IconButton } from "../../ui/Button";
import { TextField } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";

type Rating = 1 | -1;

interface Feedback {
  rating: Rating;
  comment?: string;
}

export function FeedbackForm({ answerId }: { answerId: string }) {
  const send = useMutation({
    mutationFn: (feedback: Feedback) =>
      api.POST("/api/queries/{query_id}/feedback", {
        params: { path: { query_id: answerId } },
        body: feedback,
      }),
  });
  const rating = send.variables?.rating;
  const rate = (label: string, value: Rating, Icon: typeof ThumbsUp) => (
    <IconButton
      label={label}
      aria-pressed={rating === value}
      isDisabled={send.isPending}
      onPress={() => send.mutate({ rating: value })}
    >
      <Icon size={16} />
    </IconButton>
  );
  return (
    <div className="feedback">
      {rate("Good answer", 1, ThumbsUp)}
      {rate("Bad answer", -1, ThumbsDown)}
      {send.isSuccess && <span className="muted">Thank you, your feedback is stored.</span>}
      {rating !== undefined && !(send.isSuccess && send.variables.comment !== undefined) && (
        <CommentForm
          rating={rating}
          isPending={send.isPending}
          onSend={(comment) => send.mutate({ rating, comment })}
        />
      )}
      {send.isError && <ProblemMessage error={send.error} />}
    </div>
  );
}

interface CommentFormProps {
  rating: Rating;
  isPending: boolean;
  onSend: (comment: string) => void;
}

function CommentForm({ rating, isPending, onSend }: CommentFormProps) {
  const [comment, setComment] = useState("");
  return (
    <form
      className="feedback-form"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(comment.trim());
      }}
    >
      <TextField
        label="Comment"
        placeholder={rating === 1 ? "What was good? (optional)" : "What is wrong or missing? (optional)"}
        value={comment}
        onChange={setComment}
      />
      <Button type="submit" size="small" isDisabled={isPending || comment.trim() === ""}>
        Add the comment
      </Button>
    </form>
  );
}
