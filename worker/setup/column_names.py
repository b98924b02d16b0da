"""How people call their columns: ids, predictions, scores, content, the truth."""

import re

IDS = ("item_id", "id", "itemid", "uuid", "guid", "task_id", "sample_id", "image_id", "doc_id",
        "document_id", "text_id", "example_id", "index", "key")  # fmt: skip
PREDICTED = ("predicted", "predicted_class", "predicted_label", "prediction", "pred",
              "pred_label", "pred_class", "label_pred", "y_pred", "yhat",
              "category_id")  # fmt: skip
SCORES = ("score", "confidence", "conf", "probability", "prob", "pred_score", "max_prob",
           "predicted_score", "p")  # fmt: skip
CONTENT = ("image", "image_url", "img", "img_url", "picture", "photo", "text", "content",
            "title", "body", "sentence", "document", "review", "comment", "question",
            "html", "message", "query", "tweet", "headline", "abstract",
            "audio", "audio_url", "video", "video_url", "url", "uri", "coco_url",
            "file_name")  # fmt: skip
CONTENT_IF_READ = ("subject", "description", "prompt", "input", "summary", "instruction")
KINDS = ("image", "img", "photo", "picture", "audio", "sound", "video", "html")
# What the classifier says, by a part of the name; and what may hold the truth, which is not shown.
SAID = re.compile(
    r"(?i)(?:^|[\W_])(?:pred|predicted|prediction|model|classifier|guess|argmax|vorhersage|prognose)(?:$|[\W_])"
)
SURE = re.compile(r"(?i)(?:^|[\W_])(?:score|confidence|conf|prob|probability|certainty)(?:$|[\W_])")
CLASS = re.compile(r"(?i)(?:^|[\W_])(?:label|class|category|sentiment|topic|intent)(?:$|[\W_])")
TRUE = re.compile(
    r"(?i)(?:^|[\W_])(?:true|truth|gold|golden|ground|target|actual|expected|reference|human|"
    r"annotated|annotation|y)(?:$|[\W_])"
)
NOT_SHOWN = re.compile(
    r"(?i)(?:^|[\W_])(?:output|response|answer|explanation|reason|reasoning|rationale|notes?|tags?)"
    r"(?:$|[\W_])"
)
# Second opinions: what another model says, and never what is true.
PREDICTED_PART = re.compile(r"(?i)(?:^|[\W_])(?:pred|predicted|prediction)(?:$|[\W_\d])")
OTHER_MODEL = re.compile(
    r"(?i)(?:^|[\W_])(?:old|new|prev|previous|last|baseline|teacher|student|ensemble|llm|gpt|v\d+)"
    r"(?:$|[\W_])"
)
JUDGE = re.compile(r"(?i)(?:^|[\W_])(?:judge|judged|llm|verifier|critic)(?:$|[\W_\d])")
LABEL = re.compile(r"(?i)(?:^|[\W_])(?:labels?|gt|oracle)(?:$|[\W_\d])")
# By people, or whether the prediction is right, which nobody knows of new items.
ANSWERED = re.compile(
    r"(?i)(?:^|[\W_])(?:answer|annotator|rater|expert|manual|majority|consensus|votes?|verified|"
    r"reviewed|corrected|correct|right|wrong|error|errors|mistake|hit|loss)(?:$|[\W_\d])"
)
# Outputs that a person judges: what went in, what came out, and what they are grouped by.
INPUT = re.compile(
    r"(?i)(?:^|[\W_])(?:prompts?|questions?|inputs?|instructions?|query|context|document|article|"
    r"source|passage|messages|conversation|chat)(?:$|[\W_])"
)
OUTPUT = re.compile(
    r"(?i)(?:^|[\W_])(?:outputs?|responses?|answers?|completions?|generations?|generated|replies|"
    r"reply|summary|summaries|translation|transcript|transcription|extraction)(?:$|[\W_])"
)
GROUP = re.compile(
    r"(?i)(?:^|[\W_])(?:model|topic|task|domain|subject|category|language|lang|locale|intent|"
    r"system|version|site)(?:$|[\W_])"
)
